"""Whether a copy of a release is the release, byte by byte."""

from collections.abc import Collection, Iterator

from scbench.base.canonical import sha256
from scbench.base.errors import ReleaseError
from scbench.freezing.compare import error_line, one_line
from scbench.release.manifest import MANIFEST, Manifest
from scbench.release.sources import Source


def verify_copy(
    manifest: Manifest,
    source: Source,
    ignored: Collection[str] = (),
    not_sent: Collection[str] = (),
) -> Iterator[str]:
    """Yield how a copy differs from the release that a manifest describes, byte by byte.

    For copies of what was verified already: nothing is made anew.

    Args:
        manifest: of the release.
        source: gives the bytes of the copy.
        ignored: names that the copy may hold besides.
        not_sent: names of the release that the copy may lack.
    """
    present = source.names()
    for name in sorted(present - manifest.files.keys() - {MANIFEST, *ignored}):
        yield f"{one_line(name)}: is there, though the release has no such file"
    expected = {name: (record.bytes, record.sha256) for name, record in manifest.files.items()}
    text = manifest.text().encode()
    for name, (size, digest) in ({MANIFEST: (len(text), sha256(text))} | expected).items():
        if name in not_sent and name not in present:
            continue
        try:
            data = source.read(name, size)
        except (OSError, ReleaseError) as error:
            yield f"{name}: cannot be read: {error_line(error)}"
            continue
        if sha256(data) != digest:
            yield f"{name}: is not the release's (SHA-256 differs)"
