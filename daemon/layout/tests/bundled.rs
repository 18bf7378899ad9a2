//! The layouts that come with mpiscope can be read, and put ranks where they should be.

use mpiscope_layout::{
    BUNDLED, CARTESIAN_COORDINATES, CARTESIAN_SIZES, Inputs, LayoutFile, Points, RankPlacement,
    SiteDescription, Values, bundled_layout,
};
use std::collections::HashSet;

const RANKS: usize = 24;
const SIZES: [usize; 3] = [4, 3, 2];

/// 6 hosts with 4 ranks each in 2 racks, 3 regions, and a grid of 4 x 3 x 2.
fn inputs() -> Inputs {
    let mut site = SiteDescription::default();
    site.read(b"node,key,value\nn0,rack,A\nn1,rack,A\nn2,rack,A\nn3,rack,B\nn4,rack,B\nn5,rack,B\n").unwrap();
    let placement = RankPlacement {
        regions: (0..RANKS).map(|rank| (rank / 8) as f64).collect(),
        ..RankPlacement::on_nodes_of(&site, RANKS)
    };
    let mut inputs = placement.inputs(&site);
    let per_rank =
        |value: &dyn Fn(usize) -> usize| Values::PerRank((0..RANKS).map(|rank| value(rank) as f64).collect());
    for number in 0..3 {
        inputs.set_event(number, per_rank(&|rank| rank * (number + 1)));
    }
    let strides = [6, 2, 1];
    for axis in 0..3 {
        let size = SIZES[axis];
        inputs.set_metadata(CARTESIAN_SIZES[axis], Values::Same(size as f64));
        inputs.set_metadata(CARTESIAN_COORDINATES[axis], per_rank(&|rank| rank / strides[axis] % size));
    }
    placement.complete(&mut inputs);
    inputs
}

fn points(name: &str, inputs: &Inputs) -> Points {
    let file = LayoutFile::parse(bundled_layout(name).expect("bundled").text.as_bytes());
    file.layout(name).expect("in its file").evaluate(inputs).expect("few points")
}

#[test]
fn each_file_has_its_layout_and_no_two_ranks_share_a_place() {
    for bundled in BUNDLED {
        let file = LayoutFile::parse(bundled.text.as_bytes());
        assert!(file.errors.is_empty() && file.warnings.is_empty(), "{}: {file:?}", bundled.name);
        assert_eq!(file.layouts.len(), 1, "{}", bundled.name);
        assert_eq!(file.layouts[0].name(), bundled.name);
        assert_eq!(file.layouts[0].warnings(), []);
        let points = points(bundled.name, &inputs());
        assert_eq!(points.warnings, [], "{}", bundled.name);
        let round = |value: f64| (value * 1e6).round() as i64;
        let places: HashSet<_> = (0..RANKS)
            .map(|rank| (round(points.x[rank]), round(points.y[rank]), round(points.z[rank])))
            .collect();
        // The sphere of the paper has a whole row of ranks at its pole.
        assert!(
            places.len() == RANKS || bundled.name == "sphere",
            "{}: {} places",
            bundled.name,
            places.len()
        );
    }
}

#[test]
fn runs_without_metadata_have_places_too() {
    for bundled in BUNDLED {
        for ranks in [1, 2, 1000] {
            let points = points(bundled.name, &Inputs::new(ranks));
            assert!(
                points.x.iter().chain(&points.y).chain(&points.z).all(|value| value.is_finite()),
                "{}",
                bundled.name
            );
        }
    }
}

#[test]
fn ranks_are_where_the_name_says() {
    let sphere = points("sphere", &Inputs::new(16));
    assert!(
        sphere.x[5].abs() < 0.005
            && (sphere.y[5] - 70.71).abs() < 0.005
            && (sphere.z[5] - 70.71).abs() < 0.005
    );
    let block = points("block", &Inputs::new(27));
    assert_eq!((block.x[14], block.y[14], block.z[14]), (2.0, 1.0, 1.0));
    let grid = points("grid", &inputs());
    assert_eq!((grid.x[17], grid.y[17], grid.z[17]), (2.0, 2.0, 1.0));
    let racks = points("racks", &inputs());
    // The second rank of the second node of the second rack.
    assert_eq!((racks.x[17], racks.y[17], racks.z[17]), (5.0, 0.0, 1.5));
    let towers = points("towers", &inputs());
    assert_eq!((towers.x[18], towers.y[18], towers.z[18]), (2.0, 2.0, 2.0));
}

#[test]
fn unknown_names_are_not_bundled() {
    assert_eq!(bundled_layout("SPHERE").map(|layout| layout.name), Some("sphere"));
    assert_eq!(bundled_layout("cube"), None);
}
