# What quickstart and test share: they find what this machine lacks, install it, and build. Sourced, with $root set to the
# top of the tree.

say() { echo "deploy: $*"; }

has() { command -v "$1" > /dev/null 2>&1; }

# Runs one step of a script with its output in a log file. A step that fails is named, with the end of its output.
step() { # NAME COMMAND...
    local name=$1 status=0 log
    shift
    log=$root/target/deploy-logs/${name// /-}.log
    mkdir -p "${log%/*}" && : > "$log" || {
        say "\"$name\" cannot begin: no log file can be written in ${log%/*}; is the disk full or read-only?" >&2
        return 1
    }
    "$@" > "$log" 2>&1 < /dev/null || status=$?
    [ "$status" = 0 ] || failed_step "$name" "$status" "$log"
    return "$status"
}

failed_step() { # NAME STATUS LOG
    {
        say "\"$1\" failed with status $2; the end of its output ($3):"
        tail -n 25 "$3"
        say "$(free_space)"
    } >&2
}

# The usual reason why a step fails with few words.
free_space() {
    local free
    free=$(df -Pm "$root/target" | awk 'NR == 2 { print $4 }')
    if [ "${free:-0}" -lt 2000 ]; then
        echo "only $free MiB are free in $root/target; a build needs about 2000"
    else
        echo "$free MiB are free in $root/target"
    fi
}

# What other distributions call a Debian package. Nobody has tried these yet.
package_elsewhere() { # MANAGER PACKAGE
    case $1:$2 in
    dnf:libopenmpi-dev) echo openmpi-devel ;;
    zypper:libopenmpi-dev) echo openmpi4-devel ;;
    dnf:openmpi-bin | pacman:openmpi-bin | pacman:libopenmpi-dev) echo openmpi ;;
    zypper:openmpi-bin) echo openmpi4 ;;
    *) echo "$2" ;;
    esac
}

packages_elsewhere() { # PACKAGE...
    local manager package names
    for manager in "dnf install" "pacman -S" "zypper install"; do
        names=$(for package in "$@"; do package_elsewhere "${manager%% *}" "$package"; done | sort -u | tr '\n' ' ')
        printf '%s %s' "$manager" "${names% }"
        [ "$manager" = "zypper install" ] || printf ', '
    done
}

can_install_packages() {
    has apt-get && { [ "$(id -u)" = 0 ] || sudo -n true 2> /dev/null; }
}

# Installs Debian packages, where that is possible without asking anybody.
install_packages() { # PACKAGE...
    local as_root=()
    if ! can_install_packages; then
        say "please run \"sudo apt install $*\" and start again (elsewhere, untested: $(packages_elsewhere "$@"))" >&2
        return 1
    fi
    [ "$(id -u)" = 0 ] || as_root=(sudo -n)
    say "installing $*"
    if [ -z "${lists_are_fresh:-}" ]; then
        step "update the list of packages" "${as_root[@]}" apt-get update -qq || return 1
        lists_are_fresh=yes
    fi
    step "install packages" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "$@"
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
    # What else writes archives and tables.
    need_tools eztrace=eztrace Rscript=r-base-core ssconvert=gnumeric
    /usr/bin/python3 -c 'import pandas' 2> /dev/null || install_packages python3-pandas
    /usr/bin/python3 -c 'import openpyxl' 2> /dev/null || install_packages python3-openpyxl
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
    step "install Rust" install_rust || {
        say "please install Rust yourself (https://rustup.rs) and start again" >&2
        return 1
    }
    PATH=$HOME/.cargo/bin:$PATH
}

install_rust() {
    set -o pipefail
    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y -q --profile minimal
}

# Whether this Node can build the page.
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
    say "Node $(node --version) is too old to build the page; fetching a newer one for this folder only"
    step "fetch Node 22" npm install --silent --no-save --prefix "$root/target/node" node@22 && use_own_node
    node_suits || {
        say "please install Node 20.19 or newer (https://nodejs.org) and start again" >&2
        return 1
    }
}

# Installs what a folder's lock file lists; again only when the lock file changed.
node_packages() { # FOLDER
    local lock=$root/$1/package-lock.json stamp=$root/$1/node_modules/.of-lock
    cmp -s "$lock" "$stamp" && return 0
    (cd "$root/$1" && npm ci --no-audit --no-fund) && cp "$lock" "$stamp"
}

# Builds the page unless what is built is newer than all its sources.
build_page() {
    node_packages dashboard || return 1
    local built=$root/dashboard/dist/index.html newer
    if [ -e "$built" ]; then
        newer=$(cd "$root/dashboard" && find . -mindepth 1 \( -name node_modules -o -path ./dist -o -path ./clients \) \
            -prune -o -newer dist/index.html -print -quit)
        [ -n "$newer" ] || return 0
    fi
    (cd "$root/dashboard" && npm run --silent build)
}

# The collector has a build profile of its own, to keep other crates' features out of it.
build_collector() { (cd "$root" && cargo build --locked --profile shim -p mpiscope-shim); }

build_program() { (cd "$root" && cargo build --locked --release -p mpiscope-app); }

# Builds all that a user needs. The collector takes one core for long, so it is built beside the page and the program.
build_all() {
    local collector status=0
    step "build the collector" build_collector &
    collector=$!
    step "build the page" build_page && step "build the program" build_program || status=$?
    wait "$collector" && return "$status"
}
