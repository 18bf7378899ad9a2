# What the tests and the measurements of the page need; sourced, with $root set to the top of the tree.

. "$root/deploy/machine.sh"
use_own_node

# Says what this machine lacks; nothing when it lacks nothing.
missing_tools() {
    node_suits || { echo "there is no Node of 20.19 or newer"; return; }
    has chromium || has chromium-browser || has google-chrome || { echo "chromium is not installed"; return; }
    has mpicc.openmpi || has mpicc || { echo "there is no mpicc"; return; }
    has cc || { echo "there is no compiler of C"; return; }
    has mpirun.openmpi || has mpirun || { echo "there is no mpirun"; return; }
}

# The product must be built; the packages are fetched when their lock changed.
prepare() {
    local program=${MPISCOPE_PROGRAM:-$root/target/release/mpiscope}
    [ -f "$program" ] || { echo "$program is missing: cargo build --locked --release -p mpiscope-app"; return 1; }
    if [ -n "${MPISCOPE_PROGRAM:-}" ]; then
        MPISCOPE_PROGRAM=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
        export MPISCOPE_PROGRAM
    elif [ ! -f "$root/target/shim/libmpiscope_shim.so" ]; then
        echo "target/shim/libmpiscope_shim.so is missing: cargo build --locked --profile shim -p mpiscope-shim"
        return 1
    fi
    mkdir -p "$root/target/tests-browser"
    node_packages tests/browser
}
