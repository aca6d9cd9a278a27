#!/usr/bin/env bash
# Runs a command beside another Debian, in a folder for chroot:
#
#     .ci/debian_room.sh SUITE FOLDER|--try "PACKAGE…" [COMMAND…]
#
# The folder is made where it isn't there yet, with no packages but Debian's smallest set and those
# named, and is kept. The command finds the folder in CALLBOARD_ROOM, with /proc and /dev mounted in
# it. Nothing stays mounted. Ends with 3 where this machine can't do it, and says why. With --try
# that is all it does.
set -euo pipefail
suite=$1 room=$2 packages=${3-}
shift $(($# < 3 ? $# : 3))

cannot() {
    echo "$1"
    exit 3
}

[ "$(id -u)" = 0 ] || cannot "it needs root"
[ -e /etc/debian_version ] || cannot "it needs Debian"
for program in debootstrap unshare chroot; do
    command -v "$program" >/dev/null || cannot "$program is not installed"
done
# In a plain chroot / is no mount, which nobody can make private. There we unmount by ourselves.
propagation=private
if ! unshare --mount true 2>/dev/null; then
    propagation=unchanged
    unshare --mount --propagation "$propagation" true 2>/dev/null ||
        cannot "it needs the right to mount"
fi
[ "$room" != --try ] || exit 0
# What is mounted in a name space of its own is gone with the last process in it.
mkdir -p "$room"
room=$(realpath "$room")
if [ "${CALLBOARD_INSIDE:-}" != "$PPID $room" ]; then
    CALLBOARD_INSIDE="$$ $room" unshare --mount --propagation "$propagation" -- \
        "$BASH" "$0" "$suite" "$room" "$packages" "$@"
    exit
fi
unset CALLBOARD_INSIDE
export CALLBOARD_ROOM=$room

# Where apt fetches from on this machine, and how.
mirror() {
    local list
    for list in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
        [ ! -e "$list" ] || grep -E '^(URIs:|deb )' "$list" || true
    done | { grep -oE 'https?://[^ ]+' || true; } | sed -n 1p
}

settings() {
    apt-config dump | grep -E '^Acquire::(https?::|Check-|Retries|ForceIPv)' || true
}

make() {
    local from
    from=$(mirror)
    [ -n "$from" ] || cannot "apt's sources name no mirror of Debian's"
    debootstrap --variant=minbase "$suite" "$room" "$from"
    enter
    settings >"$room/etc/apt/apt.conf.d/90machine"
    cp /etc/resolv.conf "$room/etc/resolv.conf"
    export DEBIAN_FRONTEND=noninteractive
    chroot "$room" apt-get update -qq
    # shellcheck disable=SC2086
    chroot "$room" apt-get install -y -qq --no-install-recommends $packages
    chroot "$room" apt-get clean
    if [ -e /etc/ssl/certs/ca-certificates.crt ]; then
        mkdir -p "$room/etc/ssl/certs"
        cp /etc/ssl/certs/ca-certificates.crt "$room/etc/ssl/certs/"
    fi
}

enter() {
    local folder
    for folder in /proc /dev; do
        mount --rbind "$folder" "$room$folder"
        # Or unmounting it here would unmount what is below it outside.
        mount --make-rslave "$room$folder"
    done
}

leave() {
    [ "$propagation" = private ] || umount --lazy --recursive "$room/dev" "$room/proc"
}

if [ -e "$room/made" ]; then
    enter
else
    [ -e "$room/making" ] || [ -z "$(ls -A "$room")" ] || cannot "$room holds something else"
    # Half a room is made anew. Nothing else is ever removed.
    rm -rf --one-file-system "$room"
    mkdir "$room"
    touch "$room/making"
    trap 'tail -n 20 "$room.log"; leave' EXIT
    make >"$room.log" 2>&1
    mv "$room/making" "$room/made"
fi
trap leave EXIT
if [ $# != 0 ]; then
    [ "$propagation" = unchanged ] || exec "$@"
    "$@"
fi
