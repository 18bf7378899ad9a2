//! The arrows between crates, and what no crate of a layer may reach.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Which crates of the workspace a crate may name in its dependencies.
const ALLOWED: &[(&str, &[&str])] = &[
    ("mpiscope-wire", &[]),
    ("mpiscope-ring", &["mpiscope-wire"]),
    ("mpiscope-capture", &["mpiscope-wire"]),
    ("mpiscope-shim", &["mpiscope-capture", "mpiscope-ring", "mpiscope-wire"]),
    ("mpiscope-process", &[]),
    ("mpiscope-model", &[]),
    ("mpiscope-symbols", &["mpiscope-model"]),
    ("mpiscope-ingest", &["mpiscope-wire", "mpiscope-model"]),
    ("mpiscope-matching", &["mpiscope-model"]),
    ("mpiscope-topology", &["mpiscope-model"]),
    ("mpiscope-diagnosis", &["mpiscope-matching", "mpiscope-model", "mpiscope-topology"]),
    ("mpiscope-layout", &[]),
    ("mpiscope-flow", &["mpiscope-diagnosis", "mpiscope-matching", "mpiscope-model", "mpiscope-topology"]),
    ("mpiscope-recording", &["mpiscope-wire", "mpiscope-model"]),
    ("mpiscope-link", &["mpiscope-wire"]),
    (
        "mpiscope-agent",
        &["mpiscope-wire", "mpiscope-ring", "mpiscope-process", "mpiscope-model", "mpiscope-recording"],
    ),
    ("mpiscope-launch", &[]),
    ("mpiscope-otf2", &[]),
    ("mpiscope-formats", &["mpiscope-wire", "mpiscope-model", "mpiscope-recording", "mpiscope-otf2"]),
    // Its tests read what it models with ingest and matching, which it may not know itself.
    ("mpiscope-synth", &["mpiscope-wire"]),
    (
        "mpiscope-feed",
        &[
            "mpiscope-model",
            "mpiscope-diagnosis",
            "mpiscope-matching",
            "mpiscope-topology",
            "mpiscope-layout",
        ],
    ),
    (
        "mpiscope-verdict",
        &[
            "mpiscope-wire",
            "mpiscope-process",
            "mpiscope-model",
            "mpiscope-symbols",
            "mpiscope-ingest",
            "mpiscope-matching",
            "mpiscope-topology",
            "mpiscope-diagnosis",
            "mpiscope-flow",
            "mpiscope-recording",
            "mpiscope-feed",
        ],
    ),
    (
        "mpiscope-engine",
        &[
            "mpiscope-wire",
            "mpiscope-process",
            "mpiscope-model",
            "mpiscope-symbols",
            "mpiscope-ingest",
            "mpiscope-matching",
            "mpiscope-topology",
            "mpiscope-diagnosis",
            "mpiscope-recording",
            "mpiscope-agent",
            "mpiscope-feed",
            "mpiscope-verdict",
        ],
    ),
    (
        "mpiscope-placement",
        &[
            "mpiscope-model",
            "mpiscope-topology",
            "mpiscope-recording",
            "mpiscope-feed",
            "mpiscope-verdict",
            "mpiscope-engine",
        ],
    ),
    ("mpiscope-protocol", &[]),
    ("mpiscope-server", &["mpiscope-feed", "mpiscope-model", "mpiscope-protocol"]),
    (
        "mpiscope-page",
        &[
            "mpiscope-wire",
            "mpiscope-process",
            "mpiscope-model",
            "mpiscope-symbols",
            "mpiscope-ingest",
            "mpiscope-matching",
            "mpiscope-layout",
            "mpiscope-recording",
            "mpiscope-feed",
            "mpiscope-verdict",
            "mpiscope-engine",
            "mpiscope-placement",
            "mpiscope-server",
        ],
    ),
    (
        "mpiscope-recorder",
        &[
            "mpiscope-wire",
            "mpiscope-ring",
            "mpiscope-process",
            "mpiscope-model",
            "mpiscope-matching",
            "mpiscope-symbols",
            "mpiscope-ingest",
            "mpiscope-layout",
            "mpiscope-flow",
            "mpiscope-recording",
            "mpiscope-link",
            "mpiscope-agent",
            "mpiscope-feed",
            "mpiscope-verdict",
            "mpiscope-engine",
            "mpiscope-placement",
            "mpiscope-page",
        ],
    ),
    (
        "mpiscope-compare",
        &[
            "mpiscope-wire",
            "mpiscope-model",
            "mpiscope-symbols",
            "mpiscope-matching",
            "mpiscope-recording",
            "mpiscope-feed",
            "mpiscope-verdict",
            "mpiscope-engine",
            "mpiscope-page",
        ],
    ),
    (
        "mpiscope-app",
        &[
            "mpiscope-wire",
            "mpiscope-ring",
            "mpiscope-process",
            "mpiscope-model",
            "mpiscope-symbols",
            "mpiscope-matching",
            "mpiscope-topology",
            "mpiscope-diagnosis",
            "mpiscope-layout",
            "mpiscope-recording",
            "mpiscope-synth",
            "mpiscope-link",
            "mpiscope-agent",
            "mpiscope-launch",
            "mpiscope-formats",
            "mpiscope-feed",
            "mpiscope-verdict",
            "mpiscope-engine",
            "mpiscope-placement",
            "mpiscope-server",
            "mpiscope-page",
            "mpiscope-recorder",
            "mpiscope-compare",
        ],
    ),
    ("mpiscope-client", &["mpiscope-protocol"]),
    ("mpiscope-lab-switch", &[]),
    ("mpiscope-xtask", &[]),
    ("mpiscope-harness", &["mpiscope-recording", "mpiscope-model"]),
    (
        "mpiscope-bench-analysis",
        &[
            "mpiscope-diagnosis",
            "mpiscope-flow",
            "mpiscope-ingest",
            "mpiscope-link",
            "mpiscope-matching",
            "mpiscope-model",
            "mpiscope-synth",
            "mpiscope-topology",
            "mpiscope-wire",
        ],
    ),
    ("mpiscope-bench-layout", &["mpiscope-layout"]),
    (
        "mpiscope-bench-recording",
        &[
            "mpiscope-engine",
            "mpiscope-feed",
            "mpiscope-ingest",
            "mpiscope-matching",
            "mpiscope-model",
            "mpiscope-process",
            "mpiscope-recording",
            "mpiscope-synth",
            "mpiscope-topology",
            "mpiscope-wire",
        ],
    ),
    (
        "mpiscope-scenarios",
        &[
            "mpiscope-diagnosis",
            "mpiscope-ingest",
            "mpiscope-matching",
            "mpiscope-model",
            "mpiscope-placement",
            "mpiscope-recording",
            "mpiscope-synth",
            "mpiscope-topology",
            "mpiscope-verdict",
            "mpiscope-wire",
        ],
    ),
    (
        "mpiscope-fuzz",
        &[
            "mpiscope-diagnosis",
            "mpiscope-ingest",
            "mpiscope-layout",
            "mpiscope-matching",
            "mpiscope-model",
            "mpiscope-protocol",
            "mpiscope-ring",
            "mpiscope-wire",
        ],
    ),
    // What runs its tests; what the tests themselves use is left out by `run_time`.
    ("mpiscope-e2e", &["mpiscope-harness"]),
];

/// What a crate may not reach, however indirectly.
const NEVER: &[(&str, &[&str])] = &[
    ("mpiscope-wire", &["*"]),
    ("mpiscope-process", &["tokio", "warp", "parquet", "clap"]),
    ("mpiscope-symbols", &["tokio", "warp", "parquet"]),
    ("mpiscope-model", &["*"]),
    ("mpiscope-matching", &["serde", "tokio", "warp", "parquet", "libc"]),
    ("mpiscope-topology", &["serde", "tokio", "warp", "parquet", "libc"]),
    ("mpiscope-diagnosis", &["serde", "tokio", "warp", "parquet", "libc"]),
    ("mpiscope-layout", &["serde", "tokio", "warp", "parquet", "libc"]),
    ("mpiscope-flow", &["tokio", "warp", "parquet"]),
    ("mpiscope-ingest", &["serde", "tokio", "warp", "libc"]),
    ("mpiscope-synth", &["serde", "tokio", "warp", "libc"]),
    // What calls foreign functions does nothing else.
    ("mpiscope-otf2", &["serde", "tokio", "warp", "parquet", "anyhow"]),
    ("mpiscope-protocol", &["tokio", "warp", "parquet", "libc"]),
    ("mpiscope-agent", &["tokio", "warp", "clap", "indicatif"]),
    ("mpiscope-launch", &["*"]),
    ("mpiscope-engine", &["tokio", "warp", "clap", "indicatif"]),
    ("mpiscope-verdict", &["tokio", "warp", "clap", "indicatif"]),
    ("mpiscope-formats", &["tokio", "warp", "clap", "indicatif", "signal-hook"]),
    ("mpiscope-shim", &["serde", "tokio", "anyhow", "warp", "parquet"]),
];

/// Compiled by a profile of its own only.
const COLLECTOR: &str = "mpiscope-shim";

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    resolve: Resolve,
}

/// What is really used: optional dependencies that nobody asks for are not in it.
#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<EdgeKind>,
}

#[derive(Deserialize)]
struct EdgeKind {
    kind: Option<String>,
    target: Option<String>,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
}

/// Fails at the first arrow that is not allowed.
pub(crate) fn check(root: &Path) -> Result<()> {
    let output = Command::new("cargo")
        .args(["metadata", "--format-version=1", "--locked"])
        .current_dir(root)
        .output()
        .context("run cargo metadata")?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Metadata = serde_json::from_slice(&output.stdout).context("read cargo metadata")?;
    let arrows = arrows(&metadata);
    let members: Vec<&Package> =
        metadata.packages.iter().filter(|package| metadata.workspace_members.contains(&package.id)).collect();
    for member in &members {
        let allowed = ALLOWED
            .iter()
            .find(|(name, _)| *name == member.name)
            .with_context(|| format!("{} has no line in the table of layers", member.name))?
            .1;
        for dependency in run_time(member).into_iter().filter(|name| name.starts_with("mpiscope-")) {
            ensure!(allowed.contains(&dependency), "{} may not depend on {dependency}", member.name);
        }
    }
    for (name, forbidden) in NEVER {
        let reached = reach(name, &arrows);
        for other in reached {
            let refused = forbidden.contains(&"*") || forbidden.contains(&other);
            ensure!(!refused, "{name} reaches {other}, which it may not");
        }
    }
    let profiles = std::fs::read_to_string(root.join("Cargo.toml")).context("read Cargo.toml")?;
    let with_assertions = with_assertions(&profiles).context("read profiles in Cargo.toml")?;
    for member in members.iter().filter(|member| member.name != COLLECTOR) {
        let is_listed = with_assertions.contains(&member.name);
        ensure!(is_listed, "{} is tested without assertions: name it in profile.bench", member.name);
    }
    println!("layers hold: {} crates", members.len());
    Ok(())
}

/// The crates that are tested with all assertions.
fn with_assertions(manifest: &str) -> Result<BTreeSet<String>> {
    let profiles = &manifest.parse::<toml::Table>()?["profile"];
    let packages = profiles["bench"]["package"].as_table().context("profile.bench names no crate")?;
    let is_on =
        |settings: &toml::Value, name: &str| settings.get(name).and_then(toml::Value::as_bool) == Some(true);
    let named = packages
        .iter()
        .filter(|(_, settings)| is_on(settings, "debug-assertions") && is_on(settings, "overflow-checks"));
    Ok(named.map(|(name, _)| name.clone()).collect())
}

/// Who uses whom when the program runs, by names.
fn arrows(metadata: &Metadata) -> BTreeMap<&str, BTreeSet<&str>> {
    let names: BTreeMap<&str, &str> =
        metadata.packages.iter().map(|package| (package.id.as_str(), package.name.as_str())).collect();
    let runs = |edge: &&Edge| {
        let everywhere = |kind: &EdgeKind| {
            let loom = kind.target.as_deref().is_some_and(|target| target.contains("loom"));
            kind.kind.is_none() && !loom
        };
        edge.dep_kinds.iter().any(everywhere)
    };
    let mut arrows: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for node in &metadata.resolve.nodes {
        let from = arrows.entry(names[node.id.as_str()]).or_default();
        from.extend(node.deps.iter().filter(runs).map(|edge| names[edge.pkg.as_str()]));
    }
    arrows
}

fn run_time(package: &Package) -> BTreeSet<&str> {
    package
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind.as_deref() != Some("dev"))
        .map(|dependency| dependency.name.as_str())
        .filter(|name| *name != "loom")
        .collect()
}

fn reach<'a>(name: &str, arrows: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = arrows.get(name).into_iter().flatten().copied().collect();
    while let Some(next) = open.pop() {
        if let Some((known, further)) = arrows.get_key_value(next)
            && reached.insert(*known)
        {
            open.extend(further.iter().copied());
        }
    }
    reached
}
