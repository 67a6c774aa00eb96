"""Everything the experiments found, as files: record, tables, figures, policies and one page."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from claim.evaluation.compare import without_nan
from claim.evaluation.provenance import manifest
from claim.experiments.jobs import Train, save_policy
from claim.experiments.page import Section, Table, page
from claim.experiments.paper import SCOUT, Paper
from claim.experiments.published import CITATION, NETWORKS
from claim.experiments.results import Findings
from claim.experiments.sections import PRODUCTS
from claim.io.files import write_whole
from claim.jobs import RESULTS_VERSION, Store, with_needs

TITLE = "The experiments of the CLAIM paper, run again"


def write_report(paper: Paper, store: Store, command: str, failures: dict[str, str]) -> Path:
    """Write all products of what is done; returns the path of the page."""
    findings = Findings(paper, store)
    sections = [product(findings) for product in PRODUCTS]
    record = _record(paper, store, command)
    folder = store.folder
    for name in ("tables", "figures", "policies"):
        (folder / name).mkdir(exist_ok=True)
    _write_json(folder / "manifest.json", record)
    _write_json(folder / "results.json", _results(sections))
    for section in sections:
        _write_section(section, folder)
    _write_policies(findings, folder / "policies")
    target = folder / "report.html"
    write_whole(target, page(TITLE, _introduction(findings, command), sections, troubles(findings, failures), record))
    return target


def troubles(findings: Findings, failures: dict[str, str]) -> list[str]:
    """What has no result, and why; what failed comes first."""
    from claim.discovery import POLICIES

    missing = sorted(findings.missing(), key=lambda name: name not in failures)
    found = [f"{name}: {failures.get(name, 'not run yet; the same command goes on')}" for name in missing]
    return found if SCOUT in POLICIES else [*found, "scout: this version has no policy of that name"]


def _introduction(findings: Findings, command: str) -> list[str]:
    paper, scale = findings.paper, findings.paper.scale
    words = [
        f"Made by: {command}",
        f"Published numbers: {CITATION}.",
        f"Scale {scale.name}: {scale.runs} start sets a network, {scale.seeds} models of each variant, "
        f"{scale.episodes} training episodes.",
    ]
    jobs = with_needs(paper.jobs())
    done = sum(findings.result(job) is not None for job in jobs)
    if done < len(jobs):
        words.append(
            f"{done} of {len(jobs)} jobs are done. What has not been run says so; where only some models of a method "
            "are done, their number stands in square brackets."
        )
    if scale.name != "full":
        words.append(
            "This scale shows that everything works; its numbers are too noisy to conclude anything from them."
        )
    absent = [name for name in NETWORKS if name not in paper.networks]
    if absent:
        words.append(
            f"Not run on {', '.join(absent)}: others stand in for them, and nothing published can be set beside."
        )
    revisions = _revisions(paper, findings.store)
    if len(revisions) > 1:
        words.append(f"The results come from {len(revisions)} states of the code, which the record lists.")
    return words


def _record(paper: Paper, store: Store, command: str) -> dict[str, Any]:
    networks = {each.name: each for field in paper.fields for each in (*field.train, *field.test)}
    settings = {
        "scale": paper.scale.name,
        "runs": paper.scale.runs,
        "seeds": paper.scale.seeds,
        "episodes": paper.scale.episodes,
        "larger_budgets": [{"surveys": budget, "episodes": episodes} for budget, episodes in paper.scale.larger],
        "settings": dict(paper.scale.settings),
        "results_version": RESULTS_VERSION,
        "revisions_of_results": _revisions(paper, store),
    }
    return manifest(command, settings, networks.values())


def _revisions(paper: Paper, store: Store) -> list[Any]:
    """The states of the code that the results come from."""
    records = (store.record(job) for job in with_needs(paper.jobs()))
    found = {json.dumps(record["git"], sort_keys=True) for record in records if record is not None}
    return [json.loads(each) for each in sorted(found)]


def _results(sections: Sequence[Section]) -> dict[str, Any]:
    return {
        section.name: {table.name: without_nan(list(table.rows)) for table in section.tables} for section in sections
    }


def _write_section(section: Section, folder: Path) -> None:
    for table in section.tables:
        write_whole(folder / "tables" / f"{table.name}.csv", _as_csv(table))
        write_whole(folder / "tables" / f"{table.name}.md", _as_markdown(table))
    for picture in section.pictures:
        write_whole(folder / "figures" / f"{picture.name}.svg", picture.svg)
        write_whole(folder / "figures" / f"{picture.name}.png", picture.png)


def _as_csv(table: Table) -> str:
    text = io.StringIO()
    columns = list(dict.fromkeys(name for row in table.rows for name in row))
    writer = csv.DictWriter(text, fieldnames=columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(without_nan(dict(row)) for row in table.rows)
    return text.getvalue()


def _as_markdown(table: Table) -> str:
    """What the page shows, for pages that carry the same numbers."""
    rules = ["---", *["---:"] * (len(table.heads) - 1)]
    lines = [table.heads, rules, *table.cells]
    return "".join(f"| {' | '.join(cell.strip() for cell in line)} |\n" for line in lines)


def _write_policies(findings: Findings, folder: Path) -> None:
    for job in with_needs(findings.paper.jobs()):
        if isinstance(job, Train) and job.episodes and (result := findings.result(job)) is not None:
            save_policy(result, folder / job.label)


def _write_json(path: Path, data: Any) -> None:
    write_whole(path, json.dumps(data, indent=1, allow_nan=False) + "\n")
