#!/usr/bin/env bash
# A CI gate: fail the build where a step became slower, or memory grew, between two captures.
#
#   examples/ci_gate.sh BASE NEW     traces, or with RUNS=1 folders of repeated runs
#
# A relative condition fails only where the whole 95 % interval of the change lies beyond it, so noise alone does not
# fail a build: record 20 steps or more, or five runs or more of each.
set -euo pipefail
neuron-explorer diff "$1" "$2" ${RUNS:+--runs} \
    --fail-if 'step_time > +3%' \
    --junit "${JUNIT:-gate.xml}" --force \
    --markdown
