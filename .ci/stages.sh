# What `.ci/run` is made of: stages, what they left in the folder "$logs", and how the run ends.
# To be sourced at the top of the project, with "$logs" and "$python" set.

number=10

# A COMMAND below that begins with --tests is pytest's, told without that word and with where to note
# what failed: those tests are run once more, by themselves, before the run ends.

# stage NAME SECONDS COMMAND…: runs it within the time, notes duration and outcome.
stage() {
    number=$((number + 1))
    perform "$logs/$number" "$@"
}

# beside NAME SECONDS COMMAND…: the same while other stages run; `joined` waits for it.
beside() {
    number=$((number + 1))
    perform "$logs/$number" "$@" >"$logs/$number.shown" 2>&1 &
}

joined() {
    wait
    cat "$logs"/*.shown 2>/dev/null
    rm -f "$logs"/*.shown
}

# In a shell of its own, so that `times` counts this stage's programs and none that ran beside it.
perform() (
    notes=$1 name=$2 limit=$3 began=$SECONDS outcome=ok
    shift 3
    if [ "$1" = --tests ]; then
        shift
        printf '%s\0' "$name" "$@" >"$notes.command"
        set -- "$@" -o "cache_dir=$notes.cache"
    fi
    printf '\n=== %s\n' "$name"
    timeout --kill-after=20 "$limit" "$@" 2>&1 | tee "$notes.log"
    code=${PIPESTATUS[0]}
    if [ "$code" = 124 ] || [ "$code" = 137 ]; then
        outcome="FAILED (over ${limit} s)"
    elif [ "$code" != 0 ]; then
        outcome="FAILED ($code)"
    fi
    tests_in_log "$notes" "$code"
    times >"$notes.times"
    used=$(awk -F '[ms ]+' 'NR == 2 { print int($1 * 60 + $2 + $3 * 60 + $4) }' "$notes.times")
    printf '%-28s after %4d s: %4d s, %4d of a processor  %s\n' \
        "$name" "$began" $((SECONDS - began)) "$used" "$outcome" >"$notes.report"
    exit "$code"
)

# Notes what pytest's summary line counts; a failed stage without one is one failure.
tests_in_log() {
    local summary bad=0 word
    summary=$(grep -aE '^=+ .* in [0-9.]+s.* =+$|^[0-9]+ (passed|failed|skipped|error).* in [0-9.]+s' \
        "$1.log" | tail -n 1)
    count() { grep -oE "[0-9]+ $1" <<<"$summary" | grep -oE '[0-9]+' || echo 0; }
    for word in failed error; do bad=$((bad + $(count "$word"))); done
    if [ "$2" != 0 ] && [ "$bad" = 0 ]; then bad=1; fi
    echo "$(count passed) $bad $(count skipped)" >"$1.counts"
}

# Runs again what failed beside others, tells how each stage went, and what counts.
finish() {
    local passed failed skipped alone used
    "$python" packaging/run_again.py "$logs"
    alone=$(cat "$logs"/*.alone 2>/dev/null)
    printf '\n'
    cat "$logs"/*.report
    read -r passed failed skipped < <(cat "$logs"/*.counts |
        awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }')
    if [ -n "$alone" ]; then
        printf '%s\n' "$alone" "$(grep -c . <<<"$alone") failed beside others and passed alone"
    fi
    used=$(awk -F 's, +' '{ u += $NF } END { print u + 0 }' "$logs"/*.report)
    echo "$SECONDS s in all, $used of a processor, $skipped skipped"
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
}
