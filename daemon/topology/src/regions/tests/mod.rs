//! What comes out for graphs whose regions are known.

mod graphs;
mod properties;

use super::*;
use graphs::{cg, halo};
pub(super) use graphs::{graph_of, numbers, planted};
use mpiscope_model::Rank;

fn sizes(regions: &[Vec<Rank>]) -> Vec<usize> {
    regions.iter().map(Vec::len).collect()
}

/// The graph of eight processes that the paper shows.
fn of_paper() -> TalkGraph {
    let edges = [(1, 2), (1, 3), (1, 4), (2, 3), (3, 4), (3, 7), (4, 5), (5, 6), (5, 7), (6, 7), (7, 8)];
    graph_of([], edges.map(|(one, other)| (one, other, 1.0)))
}

#[test]
fn the_table_of_the_paper_and_its_two_regions() {
    let table = [
        [0.00, 1.18, 1.44, 1.33, 2.72, 3.40, 2.82, 3.22],
        [1.18, 0.00, 1.30, 2.58, 3.39, 3.26, 2.69, 3.08],
        [1.44, 1.30, 0.00, 1.45, 2.84, 2.71, 1.56, 2.53],
        [1.33, 2.58, 1.45, 0.00, 1.35, 2.61, 2.84, 3.24],
        [2.72, 3.39, 2.84, 1.35, 0.00, 1.22, 1.45, 2.43],
        [3.40, 3.26, 2.71, 2.61, 1.22, 0.00, 1.32, 2.30],
        [2.82, 2.69, 1.56, 2.84, 1.45, 1.32, 0.00, 1.15],
        [3.22, 3.08, 2.53, 3.24, 2.43, 2.30, 1.15, 0.00],
    ];
    let graph = of_paper();
    let clustering = Clustering::with_distances(&graph, Method::Paper);
    for (place, expected) in table.iter().enumerate() {
        let found = clustering.distances_of(place).unwrap();
        for (found, expected) in found.iter().zip(expected) {
            assert!((found.unwrap() - expected).abs() <= 0.005, "{place}: {found:?}, {expected}");
        }
    }
    let two = vec![vec![1, 2, 3, 4], vec![5, 6, 7, 8]];
    assert_eq!(numbers(&clustering.cut(Method::Paper.usual_cut())), two);
    assert_eq!(numbers(&clustering.cut(Cut::Count(2))), two);
    assert_eq!(numbers(&clustering.cut(Cut::Auto)), two);
    // By walks the last rank is as far from its only partner as that one is from the other half.
    assert_eq!(numbers(&regions(&graph)), [&[1, 2, 3, 4][..], &[5, 6, 7], &[8]]);
}

#[test]
fn rows_of_a_conjugate_gradient_solver_are_its_regions() {
    for (ranks, rows) in [(64, 8), (256, 16), (512, 16), (1_024, 32)] {
        let expected: Vec<Vec<u32>> =
            (0..rows).map(|row| (row * ranks / rows..(row + 1) * ranks / rows).collect()).collect();
        assert!(numbers(&regions(&cg(ranks))) == expected, "{ranks}");
    }
}

#[test]
fn from_64_ranks_on_the_paper_s_cut_leaves_every_rank_alone() {
    let graph = cg(64);
    let clustering = Clustering::new(&graph, Method::Paper);
    assert_eq!(clustering.cut(Method::Paper.usual_cut()).len(), 64);
}

#[test]
fn halos_are_cut_into_boxes_of_about_the_same_size() {
    let graph = halo([4, 4, 4]);
    let boxes = regions(&graph);
    assert_eq!(sizes(&boxes), [8; 8], "{boxes:?}");
    assert!(numbers(&boxes)[0] == [0, 1, 4, 5, 16, 17, 20, 21], "{boxes:?}");
    let graph = halo([8, 8, 8]);
    let boxes = regions(&graph);
    assert!((4..=16).contains(&boxes.len()), "{:?}", sizes(&boxes));
    assert!(modularity(&graph, &boxes) > 0.55, "{}", modularity(&graph, &boxes));
}

#[test]
fn where_all_talk_with_all_or_with_one_there_is_one_region() {
    let pairs = (0..40).flat_map(|one| (0..one).map(move |other| (one, other, 3.0)));
    assert_eq!(regions(&graph_of([], pairs)).len(), 1);
    let master = (1..100).map(|worker| (0, worker, 5.0));
    assert_eq!(regions(&graph_of([], master)).len(), 1);
    // With load imbalance too.
    let master = (1..100).map(|worker| (0, worker, f64::from(worker * worker)));
    assert_eq!(regions(&graph_of([], master)).len(), 1);
}

#[test]
fn what_is_not_connected_is_apart_and_who_is_alone_is_a_region() {
    let graph = graph_of([9, 3], [(0, 1, 1.0), (4, 5, 100.0), (7, 7, 3.0), (5, 6, 80.0)]);
    let clustering = Clustering::with_distances(&graph, Method::FreeEnergy);
    let apart = vec![vec![0, 1], vec![3], vec![4, 5, 6], vec![7], vec![9]];
    assert_eq!(numbers(&clustering.cut(Cut::At(1e9))), apart);
    assert_eq!(numbers(&clustering.cut(Cut::Count(1))), apart);
    assert_eq!(numbers(&clustering.cut(Cut::Auto)), apart);
    assert_eq!(clustering.cut(Cut::At(-1.0)).len(), 8);
    assert_eq!(clustering.cut(Cut::Count(8)).len(), 8);
    // Two that talk with nobody else are as near as can be.
    assert_eq!(numbers(&clustering.cut(Cut::Count(7))), [&[0, 1][..], &[3], &[4], &[5], &[6], &[7], &[9]]);
    let of_4 = clustering.distances_of(3).unwrap();
    assert_eq!((of_4[3], of_4[0], of_4[7]), (Some(0.0), None, None));
    assert!(of_4[4].unwrap() < of_4[5].unwrap());
    let nobody = graph_of([], []);
    assert!(regions(&nobody).is_empty());
    let silent = graph_of(0..3, []);
    assert_eq!(numbers(&regions(&silent)), [[0], [1], [2]]);
}

#[test]
fn a_walk_is_the_metric_that_its_definition_says() {
    // Two ranks: a walk from one to the other and back any number of times.
    let graph = graph_of([], [(0, 1, 7.0)]);
    let clustering = Clustering::with_distances(&graph, Method::FreeEnergy);
    let distance = clustering.distances_of(0).unwrap()[1].unwrap();
    assert!((distance - 0.05).abs() < 1e-12, "{distance}");
    let graph = planted(5, 12, 1.0, 0.05, 3);
    let clustering = Clustering::with_distances(&graph, Method::FreeEnergy);
    let all: Vec<Vec<f64>> = (0..graph.ranks().len())
        .map(|place| clustering.distances_of(place).unwrap().into_iter().map(Option::unwrap).collect())
        .collect();
    for a in 0..all.len() {
        for b in 0..all.len() {
            assert_eq!(all[a][b], all[b][a]);
            let is_near = |c: usize| all[a][b] <= all[a][c] + all[c][b] + 1e-9;
            assert!((0..all.len()).all(is_near), "{a} {b}");
        }
    }
}

#[test]
fn more_ranks_than_are_looked_at_one_by_one() {
    let graph = planted(27, 80, 1.0, 0.1, 5);
    let clustering = Clustering::new(&graph, Method::default());
    assert!(!clustering.is_exact());
    let found = clustering.cut(Cut::Auto);
    let expected: Vec<Vec<u32>> = (0..27).map(|at| (at * 80..(at + 1) * 80).collect()).collect();
    assert!(numbers(&found) == expected, "{:?}", sizes(&found));
    // Around a hub too, where pairs of partners are few.
    let master = graph_of([], (1..900).map(|worker| (0, worker, 1.0)));
    assert_eq!(Clustering::coarser_than(&master, Method::default(), 64).cut(Cut::Auto).len(), 1);
}
