"""Fetches pinned packages with the user's own pip, from the index that it is set up with.

    python3 fetch.py CACHE UNIT...             fetch these units of packages.txt into the folder CACHE
    python3 fetch.py --missing CACHE UNIT...   only name those that are missing or differ from their pins
    python3 fetch.py --units                   name every unit

A unit is made beside its place and moved there, so it is complete or missing; its pins are written inside, so only a changed
pin is fetched again. Needs Python 3.8 and pip, no other package.
"""
import fcntl
import hashlib
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

# pip asks a source archive's build system for metadata before it downloads the archive, which would fetch and run a
# tool chain that is not needed here. This stand-in answers instead.
STAND_IN = '''
import pathlib, re

def prepare_metadata_for_build_wheel(folder, config_settings=None):
    text = pathlib.Path("pyproject.toml").read_text()
    name, version = (re.search(rf'^{key} *= *"([^"]+)"', text, re.M).group(1) for key in ("name", "version"))
    info = pathlib.Path(folder) / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
    return info.name
'''
SOURCE_ARCHIVES = {"imgui-bundle"}


def say(text):
    print(f"fetch: {text}", file=sys.stderr, flush=True)


def stop(text, *lines):
    say(text)
    for line in lines:
        print(f"       {line}", file=sys.stderr)
    sys.exit(1)


def units():
    """{unit: [line, ...]} of packages.txt."""
    found, unit = {}, None
    for line in (pathlib.Path(__file__).parent / "packages.txt").read_text().splitlines():
        line = line.strip()
        if line.startswith("["):
            unit = found.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            unit.append(line)
    return found


def is_there(folder, lines):
    try:
        kept = (folder / ".pins").read_text()
    except OSError:
        return False
    return [line.strip() for line in kept.splitlines() if line.strip()] == lines


def fetch_package(package, version, sha256, folder):
    """The one verified file of the package, in the folder."""
    say(f"fetching {package} {version}")
    (folder / "got").mkdir(parents=True)
    (folder / "requirement.txt").write_text(f"{package}=={version} --hash=sha256:{sha256}\n")
    command = ["python3", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes",
               "--dest", str(folder / "got")]
    environment = dict(os.environ)
    if package in SOURCE_ARCHIVES:
        build = folder / "stand-in" / "scikit_build_core"
        build.mkdir(parents=True)
        (build / "build.py").write_text(STAND_IN)
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(build.parent), os.environ.get("PYTHONPATH")]))
        command += ["--no-build-isolation", "--no-binary", ":all:"]
    else:
        command += ["--only-binary", ":all:"]
    done = subprocess.run(command + ["-r", str(folder / "requirement.txt")], env=environment, stdout=sys.stderr)
    if done.returncode != 0:
        stop(f"{package} {version} could not be fetched; pip's own message is above.",
             "Is there a network, and does pip reach its package index? What was fetched before is kept.")
    file = next((folder / "got").iterdir())
    if hashlib.sha256(file.read_bytes()).hexdigest() != sha256:
        stop(f"{package} {version} is not what was pinned: its SHA-256 differs from {sha256}.",
             "Nothing of it was used. Ask the package index's keeper, or try another network.")
    return file


def unpack(archive, pattern, folder):
    """The files that match, without the pattern's fixed prefix; modes are kept."""
    whole_tree = pattern.endswith("/**")
    head = pattern[:-2] if whole_tree else pattern.rsplit("/", 1)[0] + "/"

    def target(name):
        wanted = name.startswith(head) if whole_tree else name == pattern
        # The .alt libraries are a second build of NVRTC, 230 MB that nothing here opens.
        if not wanted or name.endswith("/") or ".alt.so" in name or name.endswith("__init__.py"):
            return None
        path = pathlib.PurePosixPath(name[len(head):])
        if path.is_absolute() or ".." in path.parts:
            stop(f"{archive}: {name} leads outside the archive")
        return folder / path

    def write(path, data, executable):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o755 if executable else 0o644)

    written = 0
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            for entry in wheel.infolist():
                path = target(entry.filename)
                if path:
                    write(path, wheel.read(entry), "/bin/" in entry.filename or bool(entry.external_attr >> 16 & 0o100))
                    written += 1
    else:
        with tarfile.open(archive) as source:
            for entry in source:
                path = target(entry.name) if entry.isfile() else None
                if path:
                    write(path, source.extractfile(entry).read(), bool(entry.mode & 0o100))
                    written += 1
    if not written:
        stop(f"{archive}: nothing in it matches {pattern}")


def fetch_unit(cache, unit, lines):
    with tempfile.TemporaryDirectory(prefix=".making.", dir=cache) as name:
        making = pathlib.Path(name)
        for line in lines:
            package, version, sha256, pattern, _, to = line.split()
            file = fetch_package(package, version, sha256, making / package)
            unpack(file, pattern, making / "unit" / to)
            shutil.rmtree(making / package)
        (making / "unit" / ".pins").write_text("\n".join(lines) + "\n")
        place = cache / unit
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.exists():
            place.rename(making / "old")
        (making / "unit").rename(place)


def main():
    words = sys.argv[1:]
    known = units()
    if words == ["--units"]:
        print("\n".join(known))
        return 0
    only_name = words[:1] == ["--missing"]
    words = words[only_name:]
    unknown = [unit for unit in words[1:] if unit not in known]
    if len(words) < 2 or unknown:
        stop(f"there is no unit {unknown[0]}" if unknown else "which folder, and which units?", *(__doc__ or "").splitlines()[2:6])
    cache, wanted = pathlib.Path(words[0]), words[1:]
    if only_name:
        print("\n".join(unit for unit in wanted if not is_there(cache / unit, known[unit])))
        return 0
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        stop(f"attnscope runs on Linux for x86-64; this is {platform.system()} {platform.machine()}.")
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / ".lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another one is fetching; waiting for it.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        for unit in wanted:
            if not is_there(cache / unit, known[unit]):
                fetch_unit(cache, unit, known[unit])
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as error:
        stop(f"{error.filename or 'the disk'}: {error.strerror}", "Nothing was left half done; make room and try again.")
    except KeyboardInterrupt:
        stop("interrupted; what was fetched before is kept.")
