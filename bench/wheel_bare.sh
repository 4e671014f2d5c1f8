#!/bin/bash
# Installs a wheel into a Debian 12 that has Python, an X server and Mesa and no compiler, and uses it there: the terminal, the
# window under Xvfb, the notebook. As root, with mmdebstrap and a network.
#   bench/wheel_bare.sh WHEEL FOLDER
set -euo pipefail
wheel="$(realpath "$1")"
root="$2"
tree="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
[[ -d "$root" ]] || mmdebstrap --mode=root --variant=minbase bookworm "$root" --include=python3,python3-venv,ca-certificates,xvfb,libgl1,libegl1,\
libgl1-mesa-dri,libx11-6,libxrandr2,libxinerama1,libxcursor1,libxi6,libxkbcommon0
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"  # pip there trusts whom this machine trusts
cp "$wheel" "$tree/docs/python.ipynb" "$root/srv/"
cat >"$root/srv/use.sh" <<'USE'
set -eu
for compiler in gcc cc g++ clang make cmake ld as nvcc; do ! command -v $compiler; done
cat /etc/debian_version
python3 --version
rm -rf /srv/venv
python3 -m venv /srv/venv
/srv/venv/bin/pip install --quiet --no-cache-dir /srv/*.whl
/srv/venv/bin/pip list
export PATH=/srv/venv/bin:$PATH
attnscope run --kernel tiled --problem B=1,H=1,S=128,D=64 --device emulated:l4
mkdir -p /srv/screen
Xvfb :77 -screen 0 1600x900x24 +extension GLX -fbdir /srv/screen 2>/srv/screen.txt &
screen=$!
sleep 3
DISPLAY=:77 attnscope &
window=$!
sleep 40
cp /srv/screen/Xvfb_screen0 /srv/window.xwd
kill -TERM $window
wait $window
echo "the window closed with status $?"
kill $screen
python3 - <<'PY'
import json
names = {}
for cell in json.load(open("/srv/python.ipynb"))["cells"]:
    if cell["cell_type"] == "code":
        exec("".join(cell["source"]), names)
for name in ("before", "comparison", "scan", "sweep", "stored"):
    assert names[name]._repr_html_().startswith("<table>"), name
print("every cell of the notebook ran")
PY
USE
mount --bind /proc "$root/proc"
mount --bind /dev "$root/dev"
trap 'umount "$root/proc" "$root/dev"' EXIT
chroot "$root" env -i HOME=/srv LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  PIP_CERT=/etc/ssl/certs/ca-certificates.crt bash /srv/use.sh
