"""Lookalike names, invisible characters, and permission to submit for an organisation."""

import pytest

from scbench.base.errors import ScbenchError
from scbench.leaderboard.lookalikes import hidden_signs, skeleton, without_badges
from scbench.leaderboard.names import (
    check_organisation,
    read_organisations,
    similar_names,
)
from scbench.leaderboard.submission import read_submission

ALIKE = [
    ("\u0410urora", "Aurora"),  # Cyrillic A
    ("OpenAl", "OpenAI"),
    ("\uff21urora", "Aurora"),  # of full width
    ("\U0001d400urora", "aurora"),  # of mathematics
    ("Aur\u200bora", "Aurora"),
    ("Zu\u0308rich", "Z\u00fcrich"),
]

HIDDEN = (
    "\u200b \u200d \u2060 \ufeff \u00ad \u202e \u2066 \ue000 \U000e0041 \u034f \u3164 \u115f "
    "\u2800 \ufe0f \U000e0101 \u0007"
)

FILE = """
[[organisation]]
name = "Example Lab"
contacts = ["someone@example.org", "@lab.example.org"]
submitters = ["Example-Lab"]

[[organisation]]
name = "Other Lab"
contacts = ["@other.example.org"]
"""


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_lookalike_names_have_one_skeleton(one, other):
    assert skeleton(one) == skeleton(other)


@pytest.mark.parametrize("sign", HIDDEN.split(" "))
def test_invisible_characters_are_refused_in_every_name(kit, sign):
    assert hidden_signs(f"Aur{sign}ora")[0].startswith(f"U+{ord(sign):04X}")
    escaped = f"\\U{ord(sign):08x}"
    for old in ("Aurora", "Example Lab", "CC-BY-4.0", "someone@example.org", "effort"):
        text = kit.about.format(release="4.0.0").replace(
            old, f'"{old[:2]}{escaped}{old[2:]}"'
        )
        about, findings = read_submission(text.encode(), "submission.yaml")
        assert about is None, old
        assert findings


@pytest.fixture
def organisations_file(tmp_path):
    """The file maintained by the maintainers."""
    path = tmp_path / "organisations.toml"
    path.write_text(FILE, "utf-8")
    return path


def about_of(kit, **changes):
    text = kit.about.format(release="4.0.0")
    for old, new in changes.items():
        words = {
            "contact": "someone@example.org",
            "lab": "Example Lab",
            "model": "Aurora",
        }
        text = text.replace(words[old], f'"{new}"')
    about, findings = read_submission(text.encode(), "submission.yaml")
    assert findings == []
    return about


@pytest.mark.parametrize(
    ("changes", "submitter", "codes"),
    [
        ({}, None, []),
        ({"contact": "SomeOne@Example.org"}, "example-lab", []),
        ({"contact": "anyone@lab.example.org"}, None, []),
        ({"contact": "anyone@evil-lab.example.org"}, None, ["other_contact"]),
        ({"contact": "thief@example.com"}, None, ["other_contact"]),
        ({}, "thief", ["other_submitter"]),
        ({"lab": "Ex\u0430mple Lab"}, None, ["look_alike"]),
        ({"lab": "EXAMPLE LAB"}, None, ["look_alike"]),
        ({"lab": "New Lab"}, "thief", ["unknown_organisation"]),
    ],
)
def test_who_may_submit_for_an_organisation(
    kit, organisations_file, changes, submitter, codes
):
    about = about_of(kit, **changes)
    findings = list(
        check_organisation(about, read_organisations(organisations_file), submitter)
    )
    assert [finding.code for finding in findings] == codes
    for finding in findings:
        assert (finding.level == "warning") == (finding.code == "unknown_organisation")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[organisation]", "is not valid TOML"),
        ("a = " + "[" * 100_000, "is not valid TOML"),
        ('[[organisation]]\nname = "A"', "contacts"),
        ('[[organisation]]\nname = "A"\ncontacts = []', "contacts"),
        (FILE + FILE.replace("Example", "Ex\u0430mple"), "look the same"),
    ],
)
def test_unusable_file_gives_the_reason(tmp_path, text, message):
    path = tmp_path / "organisations.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(ScbenchError, match=message):
        read_organisations(path)
    with pytest.raises(ScbenchError, match="cannot be read"):
        read_organisations(tmp_path / "none.toml")


def test_two_submissions_with_similar_names(kit):
    mine = about_of(kit)
    (same,) = similar_names(mine, about_of(kit), "other")
    assert (same.level, same.code) == ("problem", "duplicate_submission")
    (same, warning) = similar_names(mine, about_of(kit, model="\u0410urora"), "other")
    assert same.code == "duplicate_submission"
    assert (warning.level, warning.code) == ("warning", "look_alike")
    assert list(similar_names(mine, about_of(kit, model="Borealis"), "other")) == []


@pytest.mark.parametrize(
    "name",
    [
        "GPT 98,7%", "Model 99/100", "#1 model", "Rank 1", "No. 1", "Top3", "Score 99",
        "\N{FULLWIDTH DIGIT NINE}\N{FULLWIDTH PERCENT SIGN}", "SOTA", "First place",
        "v\N{CYRILLIC SMALL LETTER IE}rified", "\N{BLACK STAR} best",
    ],
)  # fmt: skip
def test_names_that_claim_a_score_or_a_rank_are_refused(name):
    with pytest.raises(ValueError, match=r"must not contain|looks like a badge"):
        without_badges(name)


@pytest.mark.parametrize(
    "name",
    [
        "gpt-4.5", "Qwen2.5-72B (4-bit)", "2025-01-01", "v1.0/2", "C# coder", "ScoreNet",
        "First Light Labs", "Third Eye", "Number 5", "Stop 5", "nano 2", "Lab\N{TRADE MARK SIGN}",
    ],
)  # fmt: skip
def test_names_that_claim_nothing_are_accepted(name):
    assert without_badges(name) == name
