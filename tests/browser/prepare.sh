# What the tests and the measurements of the page need; sourced, with $root set to the top of the tree.

# Says what this machine lacks; nothing when it lacks nothing.
missing_tools() {
    local own=$root/target/node/node_modules/.bin tool
    [ -x "$own/node" ] && PATH=$own:$PATH
    for tool in node npm; do
        command -v $tool > /dev/null || { echo "$tool is not installed"; return; }
    done
    node -e 'process.exit(process.versions.node.split(".")[0] >= 20 ? 0 : 1)' || { echo "Node is older than 20"; return; }
    command -v chromium > /dev/null || command -v chromium-browser > /dev/null || command -v google-chrome > /dev/null ||
        { echo "chromium is not installed"; return; }
    command -v mpicc.openmpi > /dev/null || command -v mpicc > /dev/null || { echo "there is no mpicc"; return; }
    command -v mpirun.openmpi > /dev/null || command -v mpirun > /dev/null || { echo "there is no mpirun"; return; }
}

# The product must be built; the packages are fetched when their lock changed.
prepare() {
    local program=${MPISCOPE_PROGRAM:-$root/target/release/mpiscope}
    local lock=$root/tests/browser/package-lock.json stamp=$root/target/tests-browser/package-lock.json
    [ -f "$program" ] || { echo "$program is missing: cargo build --locked --release -p mpiscope-app"; return 1; }
    if [ -n "${MPISCOPE_PROGRAM:-}" ]; then
        MPISCOPE_PROGRAM=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
        export MPISCOPE_PROGRAM
    elif [ ! -f "$root/target/shim/libmpiscope_shim.so" ]; then
        echo "target/shim/libmpiscope_shim.so is missing: cargo build --locked --profile shim -p mpiscope-shim"
        return 1
    fi
    mkdir -p "$root/target/tests-browser"
    if [ ! -d "$root/tests/browser/node_modules" ] || ! cmp -s "$lock" "$stamp"; then
        (cd "$root/tests/browser" && npm ci --silent --no-audit --no-fund) && cp "$lock" "$stamp"
    fi
}
