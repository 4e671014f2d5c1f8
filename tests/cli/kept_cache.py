"""What tests compile stays in the build folder, for all of them. An entry is named by all that it depends on and has a checksum, so
that no test depends on what ran before it, or beside it."""
import pathlib

KEPT = pathlib.Path(__file__).resolve().parents[2] / "build" / "test_cache"


def keep_compiled(home):
    """The cache of that home, which is not there yet, becomes the kept one. Not for a test that looks at the cache, or at what a run
    costs that finds nothing in it."""
    home.mkdir()
    KEPT.mkdir(parents=True, exist_ok=True)
    (home / "cache").symlink_to(KEPT)
