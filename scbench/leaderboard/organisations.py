"""Who may submit for whom, by a file that the maintainers keep, and names that look like another's.

The file is ``organisations.toml``::

    [[organisation]]
    name = "Example Lab"
    contacts = ["someone@example.org", "@example.org"]   # addresses, or all of a domain
    submitters = ["example-lab"]                         # accounts where submissions are sent to

A submission in the name of an organisation that stands there must have one of its contacts, and
must come from one of its accounts, where that is told. What a submission says of itself proves
nothing, so maintainers add an organisation when they know who sends for it; one that they do not
know yet is a warning.

Two names look alike if their skeletons are the same: signs that are drawn alike are one sign then,
by the confusables of Unicode (Technical Standard 39, section 4), as are forms that are compatible,
cases and blanks.
"""

import tomllib
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from pydantic import Field, ValidationError

from scbench.base.errors import ScbenchError, faults_of, printable
from scbench.base.model import Frozen
from scbench.leaderboard.findings import Finding, finding
from scbench.leaderboard.folder import ABOUT
from scbench.leaderboard.submission import OneLine, Submission, is_hidden


@cache
def skeleton(text: str) -> str:
    """Return what names that look alike have in common."""
    normal = unicodedata.normalize("NFKC", text)
    bare = "".join(sign for sign in normal if not is_hidden(sign))
    return "".join("".join(map(_common_sign, _folded_signs(bare))).split())


def _folded_signs(text: str) -> str:
    # Cases fold into each other only after signs that stand for another case did: a large I is a
    # small l to the eye.
    return "".join(map(_common_sign, text)).casefold()


@cache
def _common_sign(sign: str) -> str:
    """Return the sign that stands for all that are drawn like it."""
    from confusable_homoglyphs.confusables import confusables_data  # noqa: PLC0415  (an extra)

    alike = [_without_formats(entry["c"]) for entry in confusables_data.get(sign, ())]
    if len(alike) != 1:
        return sign
    # The list names a sign's like, or for that one, all signs it is the like of.
    (twin,) = alike
    return min(sign, twin) if len(confusables_data.get(twin, ())) <= 1 else twin


def _without_formats(text: str) -> str:
    return "".join(sign for sign in text if unicodedata.category(sign) != "Cf")


class Organisation(Frozen):
    """An organisation that is known to the maintainers."""

    name: OneLine
    contacts: tuple[OneLine, ...] = Field(min_length=1)
    submitters: tuple[OneLine, ...] = ()

    def has_contact(self, contact: str) -> bool:
        """Whether a contact is one of the organisation's."""
        folded = contact.casefold()
        return any(
            folded.endswith(pattern) if pattern.startswith("@") else folded == pattern
            for pattern in map(str.casefold, self.contacts)
        )

    def has_submitter(self, account: str) -> bool:
        """Whether an account may submit for the organisation."""
        return account.casefold() in map(str.casefold, self.submitters)


class _File(Frozen):
    organisation: tuple[Organisation, ...] = ()


def read_organisations(path: Path) -> tuple[Organisation, ...]:
    """Read ``organisations.toml``.

    Raises:
        ScbenchError: it cannot be read, or two of its names look alike.
    """
    try:
        organisations = _File.model_validate(tomllib.loads(path.read_text("utf-8"))).organisation
    except OSError as error:
        raise ScbenchError(f"{path} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        raise ScbenchError(f"{path}: {faults_of(error, 1)[0]}") from None
    except ValueError as error:
        raise ScbenchError(f"{path} is not valid TOML: {printable(str(error))}") from None
    skeletons: dict[str, str] = {}
    for organisation in organisations:
        twin = skeletons.setdefault(skeleton(organisation.name), organisation.name)
        if twin is not organisation.name:
            raise ScbenchError(f"{path}: {organisation.name!r} and {twin!r} look alike")
    return organisations


def check_organisation(
    about: Submission, organisations: Sequence[Organisation], submitter: str | None = None
) -> Iterator[Finding]:
    """Yield what speaks against a submission, sent by an account, being of whom it names."""
    name = about.organisation
    alike = [peer for peer in organisations if skeleton(peer.name) == skeleton(name)]
    if not alike:
        yield finding("unknown_organisation", ABOUT, name=name)
    for organisation in alike:
        if organisation.name != name:
            yield finding("imitated_organisation", ABOUT, name=name, known=organisation.name)
        elif not organisation.has_contact(about.contact):
            yield finding("other_contact", ABOUT, name=name)
        if submitter is not None and not organisation.has_submitter(submitter):
            yield finding("other_submitter", account=submitter, name=organisation.name)


def alike(mine: Submission, peer: Submission, where: str) -> Iterator[Finding]:
    """Yield what is wrong with the names of two submissions, of which the other is at ``where``."""
    if names_of(mine) == names_of(peer):
        yield finding("duplicate_submission", ABOUT, where=printable(where))
    pairs = (
        ("organisation", mine.organisation, peer.organisation),
        ("model", mine.model.name, peer.model.name),
    )
    for what, ours, theirs in pairs:
        if ours != theirs and skeleton(ours) == skeleton(theirs):
            names = {"mine": ours, "theirs": theirs, "where": printable(where)}
            yield finding("look_alike", ABOUT, what=what, **names)


def names_of(about: Submission) -> tuple[str, ...]:
    """Return what no two submissions may have in common, as it looks."""
    words = (about.organisation, about.model.name, about.model.version)
    return (*map(skeleton, words), about.setting, about.release, about.tasks)
