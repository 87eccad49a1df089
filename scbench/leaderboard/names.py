"""Checks of names in submissions: organisations and names that look the same.

The maintainers keep a file, ``organisations.toml``::

    [[organisation]]
    name = "Example Lab"
    contacts = ["someone@example.org", "@example.org"]   # addresses, or all of a domain
    submitters = ["example-lab"]                         # accounts that submit

A submission in the name of one of these organisations must have one of its contacts. If
the sending account is known, it must be one of the organisation's. The text of a
submission proves nothing, so maintainers add an organisation once they know who submits
for it. An unknown organisation gives a warning.
"""

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import Field, ValidationError

from scbench.base.errors import ScbenchError, faults_of, printable
from scbench.base.model import Frozen
from scbench.leaderboard.findings import Finding, finding
from scbench.leaderboard.lookalikes import skeleton
from scbench.leaderboard.submission import OneLine, Submission
from scbench.leaderboard.submission_files import ABOUT
from scbench.machine.files import read_regular


class Organisation(Frozen):
    """An organisation that the maintainers know.

    Attributes:
        name: as it appears on the board.
        contacts: addresses, or "@" and a domain for all addresses in it.
        submitters: accounts that may submit.
    """

    name: OneLine
    contacts: tuple[OneLine, ...] = Field(min_length=1)
    submitters: tuple[OneLine, ...] = ()

    def has_contact(self, contact: str) -> bool:
        """Whether a contact is one of the organisation's."""
        address = contact.casefold()
        for entry in self.contacts:
            pattern = entry.casefold()
            # "@" is part of the suffix, so domains with the same ending do not match.
            is_domain = pattern.startswith("@")
            if address == pattern or (is_domain and address.endswith(pattern)):
                return True
        return False

    def has_submitter(self, account: str) -> bool:
        """Whether an account may submit for the organisation."""
        return account.casefold() in map(str.casefold, self.submitters)


class OrganisationsFile(Frozen):
    """The content of ``organisations.toml``."""

    organisation: tuple[Organisation, ...] = ()


def read_organisations(path: Path) -> tuple[Organisation, ...]:
    """Read ``organisations.toml``.

    Raises:
        ScbenchError: the file cannot be read, or two of its names look the same.
    """
    try:
        record = tomllib.loads(read_regular(path).decode())
        organisations = OrganisationsFile.model_validate(record).organisation
    except OSError as error:
        raise ScbenchError(f"{path} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        raise ScbenchError(f"{path}: {faults_of(error, 1)[0]}") from None
    except (ValueError, RecursionError) as error:
        message = printable(str(error))
        raise ScbenchError(f"{path} is not valid TOML: {message}") from None
    names: dict[str, str] = {}
    for organisation in organisations:
        twin = names.setdefault(skeleton(organisation.name), organisation.name)
        # A repeated name counts as a twin, too, so compare identity.
        if twin is not organisation.name:
            raise ScbenchError(
                f"{path}: the names {organisation.name!r} and {twin!r} look the same"
            )
    return organisations


def check_organisation(
    about: Submission,
    organisations: Sequence[Organisation],
    submitter: str | None = None,
) -> Iterator[Finding]:
    """Yield reasons to doubt that a submission comes from the organisation it names.

    Args:
        about: the submission.
        organisations: organisations known to the maintainers.
        submitter: the account that sent it, if known.
    """
    name = about.organisation
    twins = [peer for peer in organisations if skeleton(peer.name) == skeleton(name)]
    if not twins:
        yield finding("unknown_organisation", ABOUT, name=name)
    for twin in twins:
        if twin.name != name:
            yield finding("imitated_organisation", ABOUT, name=name, known=twin.name)
        elif not twin.has_contact(about.contact):
            yield finding("other_contact", ABOUT, name=name)
        if submitter is not None and not twin.has_submitter(submitter):
            yield finding("other_submitter", account=submitter, name=twin.name)


def similar_names(mine: Submission, peer: Submission, where: str) -> Iterator[Finding]:
    """Yield the findings about the names of two submissions.

    Args:
        mine: the submission that the findings are about.
        peer: the submission that it is compared with.
        where: the path of the peer.
    """
    label = printable(where)
    if identity_of(mine) == identity_of(peer):
        yield finding("duplicate_submission", ABOUT, where=label)
    pairs = (
        ("organisation", mine.organisation, peer.organisation),
        ("model", mine.model.name, peer.model.name),
    )
    for field, own_name, peer_name in pairs:
        if own_name != peer_name and skeleton(own_name) == skeleton(peer_name):
            yield finding(
                "look_alike",
                ABOUT,
                what=field,
                mine=own_name,
                theirs=peer_name,
                where=label,
            )


def identity_of(about: Submission) -> tuple[str, ...]:
    """Return the key that no two submissions may share: skeletons of names, setting, board."""
    names = (about.organisation, about.model.name, about.model.version)
    return (*map(skeleton, names), about.setting, about.release, about.tasks)
