# What quickstart and test have in common: finding what is missing on this machine, installing it, building. Sourced,
# with $root set to the top of the tree.

say() { echo "deploy: $*"; }

has() { command -v "$1" > /dev/null 2>&1; }

# Installs Debian packages, where that is possible without asking anybody.
install_packages() { # PACKAGE...
    local as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo -n)
    if has apt-get && "${as_root[@]}" true 2> /dev/null; then
        say "installing $*"
        { [ -n "${lists_are_fresh:-}" ] || "${as_root[@]}" apt-get update -qq; } && lists_are_fresh=yes &&
            DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "$@" > /dev/null
    else
        say "please install: $* (as Debian and Ubuntu name them)"
        return 1
    fi
}

# Installs the packages of those tools that are not there.
need_tools() { # TOOL=PACKAGE...
    local missing=() pair
    for pair in "$@"; do
        has "${pair%%=*}" || missing+=("${pair#*=}")
    done
    [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
}

# Programs that people use, and what test programs in other languages are built with. One by one: where a distribution
# lacks one of them, the others are still installed.
need_real_programs() {
    need_tools gfortran=gfortran
    need_tools lmp=lammps
    need_tools pw.x=quantum-espresso
    need_tools hpcc=hpcc
    # Not on the search path: the test of MUMPS, the tests of ScaLAPACK for both families of MPI, and that library.
    local tests=/usr/lib/*/scalapack
    [ -x /usr/lib/mumps/dsimpletest ] || install_packages mumps-test
    { compgen -G "$tests/openmpi-tests/xdinv" && compgen -G "$tests/mpich-tests/xdinv"; } > /dev/null ||
        install_packages scalapack-mpi-test
    compgen -G '/usr/lib/*/libscalapack-openmpi.so' > /dev/null || install_packages libscalapack-openmpi-dev
    compgen -G '/usr/lib/*/libscalapack-mpich.so' > /dev/null || install_packages libscalapack-mpich-dev
    # The system's Python, for which the package is, and not one that the user put before it.
    /usr/bin/python3 -c 'import mpi4py' 2> /dev/null || install_packages python3-mpi4py
    # Not that of C++, whose name begins likewise.
    compgen -G '/usr/lib*/llvm*/lib*/libclang.so*' > /dev/null || compgen -G '/usr/lib*/llvm*/lib*/libclang-[0-9]*.so*' > /dev/null ||
        install_packages libclang-dev
    # The library of OTF2, which the program loads where it is, comes with the tools that print archives.
    need_tools otf2-print=otf2-tools
}

# Further ones, which are a hundred megabytes to fetch and five hundred on the disk.
need_large_programs() {
    need_tools gmx_mpi=gromacs
    need_tools cp2k.psmp=cp2k
}

# What hosts of a lab run. Only root can start a lab, and these services run on its hosts alone: a package must neither
# start its service here nor leave it to the next start of the machine. One by one, as above.
need_lab() ( # in a shell of its own, for what has to be undone
    [ "$(id -u)" = 0 ] || return 0
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
        trap 'rm -f "$policy"' EXIT
        printf '#!/bin/sh\nexit 101\n' > "$policy"
        chmod 755 "$policy"
    fi
    need_tools ip=iproute2
    need_tools iperf3=iperf3
    need_service sshd openssh-server ssh.service ssh.socket
    need_service munged munge munge.service
    need_service slurmctld slurmctld slurmctld.service
    need_service slurmd slurmd slurmd.service
    need_tools srun=slurm-client
)

need_service() { # PROGRAM PACKAGE UNIT...
    has "$1" && return 0
    install_packages "$2" || return
    shift 2
    # A package has only one of the units, depending on its age.
    if has systemctl; then systemctl disable --quiet "$@" 2> /dev/null || true; fi
}

need_rust() {
    if ! has cargo && [ -x "$HOME/.cargo/bin/cargo" ]; then
        PATH=$HOME/.cargo/bin:$PATH
    fi
    has cargo && return 0
    need_tools curl=curl || return 1
    say "installing Rust for this user, with rustup"
    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y -q --profile minimal || {
        say "please install Rust (https://rustup.rs); nothing can be built without it"
        return 1
    }
    PATH=$HOME/.cargo/bin:$PATH
}

# Whether this Node is one that the page can be built with.
node_suits() {
    has node && has npm &&
        node -e 'const [major, minor] = process.versions.node.split(".").map(Number);
                 process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)'
}

# A Node that was fetched for this folder goes before the machine's.
use_own_node() {
    local own=$root/target/node/node_modules/.bin
    if [ -x "$own/node" ]; then PATH=$own:$PATH; fi
}

need_node() {
    use_own_node
    node_suits && return 0
    need_tools node=nodejs npm=npm || return 1
    node_suits && return 0
    say "this Node is too old to build the page ($(node --version)); fetching a newer one for this folder only"
    npm install --silent --no-save --prefix "$root/target/node" node@22 && use_own_node
    node_suits || {
        say "please install Node 20.19 or newer (https://nodejs.org); the page cannot be built without it"
        return 1
    }
}

# What a folder's lock file says; again only when that changed.
node_packages() { # FOLDER
    local lock=$root/$1/package-lock.json stamp=$root/$1/node_modules/.of-lock
    if ! cmp -s "$lock" "$stamp"; then
        (cd "$root/$1" && npm ci --silent --no-audit --no-fund) && cp "$lock" "$stamp"
    fi
}

# Only where something of it is newer than what was built: what takes the page in is built anew with it.
build_page() {
    node_packages dashboard || return 1
    local newer
    newer=$(cd "$root/dashboard" && find . -mindepth 1 \( -path ./node_modules -o -path ./dist \) -prune -o \
        -newer dist/index.html -print -quit 2>&1)
    [ -z "$newer" ] || (cd "$root/dashboard" && npm run --silent build)
}

build_programs() {
    # The collector has a command and a profile of its own, so that no other crate's features reach it.
    (cd "$root" && cargo build --locked --profile shim -p mpiscope-shim &&
        cargo build --locked --release -p mpiscope-app)
}
