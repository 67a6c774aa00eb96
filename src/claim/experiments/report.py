"""The folder of the experiments: record, tables, figures, trained policies and one page."""

import json
from pathlib import Path
from typing import Any

from claim.evaluation.report_kit import Section, write_report
from claim.experiments import sections, sections_training
from claim.experiments.jobs import RECORDS, Train, save_policy, write_records
from claim.experiments.paper import Paper
from claim.experiments.published import CITATION, NETWORKS
from claim.experiments.results import Results
from claim.io.files import make_folder, write_whole
from claim.jobs import RESULTS_VERSION, Store, with_needs
from claim.provenance import manifest

TITLE = "The experiments of the CLAIM paper, run again"
RECORDED = ("runs", "seeds", "episodes", "paper_episodes", "larger_budget", "larger_episodes", "larger_seeds")
SECTIONS = (*sections.SECTIONS, *sections_training.SECTIONS)  # in the order of the page


def write_experiments(paper: Paper, store: Store, command: str, failures: dict[str, str]) -> Path:
    """Write all tables, figures, policies and results of the jobs that are done; returns the path of the page."""
    results, folder = Results(paper, store), store.folder
    parts = [section(results) for section in SECTIONS]
    for name in ("tables", "policies"):
        make_folder(folder / name)
    for table in (table for section in parts for table in section.tables):
        write_whole(folder / "tables" / f"{table.name}.csv", table.as_csv())
        write_whole(folder / "tables" / f"{table.name}.md", table.as_markdown())
    for job in with_needs(paper.jobs()):
        if isinstance(job, Train) and job.episodes and (result := results.result(job)) is not None:
            save_policy(result, folder / "policies" / job.label)
    write_records(paper.jobs(), store, folder / RECORDS)
    rows = {section.name: {table.name: list(table.rows) for table in section.tables} for section in parts}
    record = _record(paper, store, command)
    parts.append(_not_run(results, failures))
    return write_report(folder, TITLE, _introduction(results, record), parts, rows, record)


def _not_run(results: Results, failures: dict[str, str]) -> Section:
    """The jobs without a result and why, failed ones first."""
    missing = sorted(results.missing(), key=lambda name: name not in failures)
    items = [f"{name}: {failures.get(name, 'not run yet; the same command goes on')}" for name in missing]
    words = [f"{len(items)} jobs have no result."] if items else ["Everything has been run."]
    return Section("not-run", "What has not been run", words, items=items)


def _introduction(results: Results, record: dict[str, Any]) -> list[str]:
    paper, scale = results.paper, results.paper.scale
    words = [
        f"Made by: {record['command']}",
        f"Published numbers: {CITATION}.",
        f"Scale {scale.name}: {scale.runs} start sets a network; at most {scale.seeds} models of each variant; "
        f"{scale.episodes} training episodes, and {scale.paper_episodes} of the paper's variants.",
    ]
    jobs, missing = len(with_needs(paper.jobs())), len(results.missing())
    if missing:
        words.append(
            f"{jobs - missing} of {jobs} jobs are done. What has not been run says so; where only some models of a "
            "method are done, their number stands in square brackets."
        )
    if scale.name != "full":
        words.append("This scale shows that everything works; its numbers are too noisy to draw conclusions from.")
    absent = [name for name in NETWORKS if name not in paper.networks]
    if absent:
        words.append(f"Not run on {', '.join(absent)}: for other networks there are no published numbers.")
    revisions = len(record["settings"]["revisions_of_results"])
    if revisions > 1:
        words.append(f"The results come from {revisions} revisions of the code, which the record lists.")
    return words


def _record(paper: Paper, store: Store, command: str) -> dict[str, Any]:
    scale = paper.scale
    networks = {each.name: each for split in paper.splits for each in (*split.train, *split.look_alikes, *split.test)}
    records = (store.record(job) for job in with_needs(paper.jobs()))
    revisions = {json.dumps(record["git"], sort_keys=True) for record in records if record is not None}
    settings = {
        "scale": scale.name,
        **{name: getattr(scale, name) for name in RECORDED},
        "settings": dict(scale.settings),
        "paper_settings": dict(scale.paper_settings),
        "results_version": RESULTS_VERSION,
        "revisions_of_results": [json.loads(each) for each in sorted(revisions)],
    }
    return manifest(command, settings, networks.values())
