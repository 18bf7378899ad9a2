//! The layouts that come with mpiscope.

/// A layout that comes with mpiscope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BundledLayout {
    /// Its name.
    pub name: &'static str,
    /// The layout file.
    pub text: &'static str,
}

/// All of them, the simplest first.
pub const BUNDLED: [BundledLayout; 14] = [
    BundledLayout { name: "line", text: include_str!("../layouts/line.txt") },
    BundledLayout { name: "ring", text: include_str!("../layouts/ring.txt") },
    BundledLayout { name: "plane", text: include_str!("../layouts/plane.txt") },
    BundledLayout { name: "block", text: include_str!("../layouts/block.txt") },
    BundledLayout { name: "sphere", text: include_str!("../layouts/sphere.txt") },
    BundledLayout { name: "cylinder", text: include_str!("../layouts/cylinder.txt") },
    BundledLayout { name: "towers", text: include_str!("../layouts/towers.txt") },
    BundledLayout { name: "racks", text: include_str!("../layouts/racks.txt") },
    BundledLayout { name: "grid", text: include_str!("../layouts/grid.txt") },
    BundledLayout { name: "torus", text: include_str!("../layouts/torus.txt") },
    BundledLayout { name: "dragonfly", text: include_str!("../layouts/dragonfly.txt") },
    BundledLayout { name: "regions", text: include_str!("../layouts/regions.txt") },
    BundledLayout { name: "metrics", text: include_str!("../layouts/metrics.txt") },
    BundledLayout { name: "log-metrics", text: include_str!("../layouts/log_metrics.txt") },
];

/// The bundled layout with this name; case does not matter.
pub fn bundled_layout(name: &str) -> Option<BundledLayout> {
    BUNDLED.into_iter().find(|layout| layout.name.eq_ignore_ascii_case(name))
}
