"""What a study knows of earlier waves: leaders who came, and who said in the follow-up whether they were reached."""

from bisect import bisect_right

from claim.field.advice.follow_up import leaders_who_came
from claim.field.study.events import FollowUpAnswered, LeaderAnswered
from claim.field.study.state import counting
from claim.field.study.study import Study
from claim.selection.observed import NOTHING, Observed


def observed_in(study: Study) -> Observed:
    """Whom the leaders who came are known to have reached, by local indices; nothing before the first came.

    A wave begins whenever a leader comes for the first time. A person who said that no one talked to them may still be
    reached by leaders of later waves.
    """
    came = {person.code for person in leaders_who_came(study)}
    if not came:
        return NOTHING
    first_came: dict[str, int] = {}
    answered: dict[str, int] = {}  # the last event of each person
    for event in counting(study.log, study.undone):
        match event.body:
            case LeaderAnswered(person, "attended"):
                first_came.setdefault(study.state.root(person), event.seq)
            case FollowUpAnswered(person):
                answered[study.state.root(person)] = event.seq
    begun = sorted(event for code, event in first_came.items() if code in came)
    index, people = study.seen.index, study.people
    wave = {code: bisect_right(begun, event) for code, event in answered.items()}
    said = {answer: [code for code in wave if people[code].follow_up == answer] for answer in ("yes", "no")}
    reached = {code: bisect_right(begun, first_came[code]) for code in came}
    reached |= {code: wave[code] for code in said["yes"] if code not in came}
    return Observed.of(
        study.discovered(),
        {index[code]: reached[code] for code in sorted(reached) if code in index},
        {index[code]: wave[code] for code in said["no"] if code in index},
    )
