"""Starts a run, watches it, answers its request, pages through records and reads the cost, with the generated client.

Prints what it found as JSON; a test compares it with what the server says.
"""

import json
import os
import time

from ralph_client import AuthenticatedClient
from ralph_client.api.approvals import approvals_answer, approvals_list
from ralph_client.api.costs import costs_list
from ralph_client.api.live import runs_events
from ralph_client.api.records import records_list
from ralph_client.api.runs import runs_get, runs_list, runs_start
from ralph_client.models import (
    ActivityEnded,
    AnswerAllow,
    AnswerAllowKind,
    Approvals,
    Costs,
    CostsListGroup,
    EndReasonWord,
    NewRun,
    Problem,
    ProblemCode,
    RecordPage,
    Run,
    RunPage,
)
from ralph_client.types import UNSET

client = AuthenticatedClient(
    base_url=os.environ["RALPH_URL"], token=os.environ["RALPH_TOKEN"], timeout=60
)
new_run = NewRun(workspace=os.environ["RALPH_WORKSPACE"], prompt="Do it.", once=True)
run = runs_start.sync(client=client, body=new_run)
assert isinstance(run, Run), run

deadline = time.monotonic() + 60
while True:
    waiting = approvals_list.sync(client=client, pending=True, run=run.id)
    assert isinstance(waiting, Approvals), waiting
    if waiting.items:
        break
    assert time.monotonic() < deadline, "the run asks nothing"
    time.sleep(0.05)
request = waiting.items[0]
allow = AnswerAllow(kind=AnswerAllowKind.ALLOW)
answered = approvals_answer.sync_detailed(run.id, request.request, client=client, body=allow)
assert answered.status_code == 202, answered

# The stream of events ends with the run.
events = runs_events.sync(run.id, client=client, after=0)
assert isinstance(events, str), events
messages = [json.loads(line[6:]) for line in events.splitlines() if line.startswith("data: ")]
watched = [record["event"]["type"] for message in messages for record in message["records"]]
assert watched[0] == "run_started" and watched[-1] == "run_ended", watched

seqs, cursor = [], UNSET
while cursor is not None:
    place = {"after": 0} if cursor is UNSET else {"cursor": cursor}
    page = records_list.sync(run.id, client=client, limit=3, **place)
    assert isinstance(page, RecordPage), page
    seqs += [record.seq for record in page.items]
    cursor = page.next_
assert seqs == sorted(set(seqs)), seqs

while True:
    run = runs_get.sync(run.id, client=client)
    assert isinstance(run, Run), run
    if isinstance(run.activity, ActivityEnded):
        break
    assert time.monotonic() < deadline, run.activity
    time.sleep(0.05)
assert run.activity.reason is EndReasonWord.COMPLETED, run.activity

runs = runs_list.sync(client=client, limit=1)
assert isinstance(runs, RunPage) and [one.id for one in runs.items] == [run.id], runs

# What was spent is added up a moment after the run has ended.
while True:
    costs = costs_list.sync(client=client, group=CostsListGroup.RUN)
    assert isinstance(costs, Costs), costs
    cost = next((cost.cost_micro_usd for cost in costs.items if cost.key == run.id), None)
    if cost == run.totals.cost_micro_usd:
        break
    assert time.monotonic() < deadline, costs
    time.sleep(0.05)

problem = runs_get.sync("20260101-000000-000000", client=client)
assert isinstance(problem, Problem) and problem.code is ProblemCode.RUN_NOT_FOUND, problem

found = {"run": run.id, "tool": request.data["tool"], "records": len(seqs), "cost_micro_usd": cost}
print(json.dumps(found))
