"""Conformance: hold a service against every fact that the API document states.

The facts are numbered in the order of the document, one table or one function each, in `flows`,
`templates`, `contacts`, `webhooks` and `service`. To add one, write a line in the table of its
resource, or a function below `@facts(number, section)`.

Not among them is what no caller can see: how a token is made in the business application,
which families of events there are, that a staging environment has the same paths. And what
the document leaves open is no fact: it is in `chatkit.ServiceProfile`.
"""

from __future__ import annotations

from chatkit.client import Client
from chatkit.conformance import contacts, flows, service, templates, webhooks
from chatkit.conformance.fact import ConformanceReport, Fact, Outcome
from chatkit.conformance.trial import MakeToken, SendEvent, Trial
from chatkit.progress import Progress

__all__ = ["FACTS", "ConformanceReport", "Fact", "Outcome", "run"]

# In the order in which they are tried: what all answers tell comes last.
_TRIED = [
    fact
    for part in (
        flows.facts,
        templates.facts,
        contacts.facts,
        webhooks.facts,
        service.access,
        service.answers,
    )
    for fact in part.all
]

#: Every fact, by number.
FACTS = tuple(sorted(_TRIED, key=lambda fact: fact.number))


def run(
    client: Client,
    *,
    allow_writes: bool = False,
    make_token: MakeToken | None = None,
    send_event: SendEvent | None = None,
) -> ConformanceReport:
    """Check every fact against the account of a client, and tell what holds.

    Without `allow_writes` nothing is written, and what only a write can show is not told.
    With it, records are created whose names begin with "chatkit conformance", contacts
    under numbers reserved for fiction, webhooks below https://conformance.example; all are
    removed at the end, also after an error or an interrupt. Records of others are read, and
    never changed. An interrupt ends the trial early; what was found is still reported.

    Args:
        client: The account.
        allow_writes: Whether marked records may be created.
        make_token: Makes an access token that has exactly these permissions; without it
            the facts about permissions are not told. Try `sandbox.make_token`.
        send_event: Makes the service send one event of a kind, to all active webhooks of
            the account; without it the facts about deliveries are not told.

    Raises:
        CallError: The service cannot be reached at all.
    """
    connection = client.connection
    outcomes: dict[int, Outcome] = {}
    trial = Trial(client, allow_writes=allow_writes, make_token=make_token, send_event=send_event)
    interrupted = False
    try:
        with trial, Progress("facts", len(_TRIED)) as progress:
            trial.reach()
            for fact in _TRIED:
                outcomes[fact.number] = fact.outcome(trial)
                progress.add(1)
    except KeyboardInterrupt:
        interrupted = True
    stopped = "the trial was interrupted before it"
    return ConformanceReport(
        f"account {connection.account_id} at {connection.base_url}",
        tuple(outcomes.get(f.number) or Outcome(f, "not told", stopped) for f in FACTS),
        left=tuple(trial.left.values()),
        notes=tuple(trial.notes),
        interrupted=interrupted,
    )
