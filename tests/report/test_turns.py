"""The turns of a trial, in the report."""

import json
import re

from scbench.grading.options import Options
from scbench.grading.run import grade_file
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.loop import Environment, Setup
from scbench.release.load import find_release
from scbench.report.page import write_report


def test_turns_of_an_item_are_a_strip_of_scores_and_pictures(tmp_path):
    release = find_release()
    instance = release.instances(["two_segments"])["two_segments/00"]
    answers = {
        ref.name: ref.answer for ref in release.references() if ref.id == instance.id
    }
    environment = Environment(Setup(setting="retry"))
    environment.reset(instance)
    for message in ("Hm <b>.", answers["other_regions"], answers["reference"]):
        environment.step(message)
    path = tmp_path / "trials.jsonl"
    path.write_text(json.dumps(environment.prediction()) + "\n")
    limits = WorkerLimits(1, None, 0)
    grade_file(
        Options(
            str(path), release, tmp_path / "out", limits, ["two_segments"], partial=True
        )
    )
    out = tmp_path / "report.html"
    write_report([tmp_path / "out"], out, predictions=str(path))
    page = out.read_text("utf-8")
    (strip,) = re.findall(r'<ol class="turns">(.*?)</ol>', page, re.DOTALL)
    shown = re.findall(r"Turn (\d): </span>([^<]*)</span>(<svg)?", strip)
    assert shown == [("1", "no answer", ""), ("2", "0", "<svg"), ("3", "1", "<svg")]
    assert "Turn 1, model:\nHm &lt;b&gt;." in page
    assert "Turn 2, observation:\nAnswer 2 of 3: score 0 of 1." in page
    write_report([tmp_path / "out"], out)
    (strip,) = re.findall(
        r'<ol class="turns">(.*?)</ol>', out.read_text("utf-8"), re.DOTALL
    )
    assert "no answer" in strip
    assert "<svg" not in strip
