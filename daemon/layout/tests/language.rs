//! An example of each rule of the language.

use crate::support;
use crate::support::{expression, inputs, layout, points, value};
use mpiscope_layout::{Inputs, LayoutFile, Values};
use std::f64::consts::{E, PI};

#[test]
fn the_sphere_of_the_paper() {
    let text = "BEGIN_VIZ=sphere\nrootRanks=sqrt(maxRank)\ntheta=2*pi() /\n    rootRanks*mod(rank , rootRanks)\n\
                phi=pi() /\n    rootRanks*(floor(rank/rootRanks))\nx=cos(theta)*sin(phi)*100\n\
                y=sin(theta)*sin(phi)*100\nz=cos(phi)*100\nEND_VIZ\n";
    let points = points(text, 16);
    let found = [points.x[5], points.y[5], points.z[5]];
    for (found, expected) in found.into_iter().zip([0.0, 70.71, 70.71]) {
        assert!((found - expected).abs() < 0.005, "{found} instead of {expected}");
    }
    assert_eq!(points.len(), 16);
}

#[test]
fn operators_bind_as_in_paraprof() {
    let examples = [
        ("1+2*3^2", 19.0),
        ("2^3^2", 64.0),
        ("-2^2", 4.0),
        ("2^-1", 0.5),
        ("1-2-3", -4.0),
        ("48/4/2*3", 18.0),
        ("2--3", 5.0),
        ("-(1+2)", -3.0),
        ("- + -4", 4.0),
        ("((((2))))*.5e1", 10.0),
    ];
    for (text, expected) in examples {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn functions_compute_what_paraprofs_do() {
    let examples = [
        ("pi()", PI),
        ("E ( )", E),
        ("log(1000)", 1000_f64.log10()),
        ("log(8, 2)", 8_f64.ln() / 2_f64.ln()),
        ("ln(8)", 8_f64.ln()),
        ("lg(8)", 3.0),
        ("round(-10.5)+round(9.2)", -1.0),
        ("round(0.49999999999999994)", 0.0),
        ("mod(-5, 3)", -2.0),
        ("mod(7.5, 2)", 1.5),
        ("min(3, 1, 2)+max(-10, 0, 20)", 21.0),
        ("min(4)", 4.0),
        ("avg(5, 10, 15)+sum(1, 2, 3)", 16.0),
        ("if(mod(rank, 2), 7, 8)", 7.0),
        ("if(0, 1/0, 5)", 5.0),
        ("atan2(1, 1)", PI / 4.0),
        ("pow(2, 10)+sqrt(9)+abs(-1)+floor(2.7)+ceil(2.2)", 1033.0),
        ("sign(-3)+sign(0)+exp(0)", 0.0),
        ("asin(sin(.5))+acos(1)+atan(0)+cos(0)+tan(0)", 1.5),
    ];
    for (text, expected) in examples {
        assert!((value(text) - expected).abs() < 1e-12, "{text} is {}", value(text));
    }
    assert!(value("min(1, 0/0)").is_nan() && value("max(0/0, 1)").is_nan());
}

#[test]
fn given_names_have_the_values_of_the_run() {
    let examples = [
        ("RANK", 3.0),
        ("maxrank", 8.0),
        ("node+thread+context", 2.0),
        ("color", 30.0),
        ("event0.val", 103.0),
        ("Event0.Min", 100.0),
        ("event0.max", 107.0),
        ("event0.MEAN", 103.5),
        ("axisDimX*100+axisDimY*10+axisDimZ", 421.0),
        ("metadata(cpu)+METADATA( Cpu )", 8.0),
    ];
    for (text, expected) in examples {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn statements_go_over_lines_and_share_them() {
    let text = "# before\n\nbegin_viz = Two Words # comment\n a=1,b=2,\n\n x = max(a,\n\n b # inside\n ) +\n\n 1\n\
                y =\n a, z=b ^\n\n 2,\nEnd_Viz\n# after\n";
    let layout = layout(text);
    assert_eq!(layout.name(), "Two Words");
    let points = layout.evaluate(&Inputs::new(1)).unwrap();
    assert_eq!((points.x[0], points.y[0], points.z[0]), (3.0, 1.0, 4.0));
    let windows = text.replace('\n', "\r\n");
    assert_eq!(support::points(&format!("\u{feff}{windows}"), 1), points);
}

#[test]
fn later_statements_see_earlier_ones() {
    let points = points("BEGIN_VIZ=a\nX=1\nx=x+1\nrank=rank*2\ny=Rank\nz=x\nEND_VIZ", 3);
    assert_eq!((points.x[2], points.y[2], points.z[2]), (2.0, 4.0, 2.0));
}

#[test]
fn ranks_may_have_several_points() {
    let text = "BEGIN_VIZ=pairs\nx0=rank, y0=1, z0=2, color0=5\nx1=-rank, y1=3, z1=4\nEND_VIZ\n";
    let layout = layout(text);
    let points = layout.evaluate(&inputs()).unwrap();
    assert_eq!((layout.points_per_rank(), points.points_per_rank, points.len()), (2, 2, 16));
    assert_eq!((points.x[6], points.y[6], points.z[6], points.color[6]), (3.0, 1.0, 2.0, 5.0));
    assert_eq!((points.x[7], points.y[7], points.z[7], points.color[7]), (-3.0, 3.0, 4.0, 30.0));
}

#[test]
fn a_color_may_be_set() {
    let text = "BEGIN_VIZ=a\nx=0,y=0,z=0\ncolor=color/10+1\nEND_VIZ";
    assert_eq!(layout(text).evaluate(&inputs()).unwrap().color[3], 4.0);
}

#[test]
fn restricted_axes_go_from_0_to_1() {
    let text = "BEGIN_VIZ=a\nrestrictDim=1\nx=rank*1e308-4e308\ny=5\nz=if(rank-2, rank, 0/0)\nEND_VIZ";
    let points = points(text, 5);
    assert_eq!(points.y, [0.0; 5]);
    assert_eq!((points.z[0], points.z[3], points.z[4]), (0.0, 0.75, 1.0));
    assert!(points.z[2].is_nan());
    let plain = support::points(&text.replace("restrictDim=1", "restrictDim=0"), 5);
    assert_eq!((plain.y[0], plain.z[4]), (5.0, 4.0));
}

#[test]
fn random_numbers_repeat() {
    let text = "BEGIN_VIZ=a\nx=rand(), y=rand()\nz=rand()\nEND_VIZ\n";
    let first = points(text, 3000);
    assert!(first.x.iter().all(|x| (0.0..1.0).contains(x)));
    let mean = first.x.iter().sum::<f64>() / 3000.0;
    assert!((0.45..0.55).contains(&mean), "{mean}");
    assert!(first.x != first.y && first.y != first.z && first.x[0] != first.x[1]);
    assert_eq!(points(&format!("# moved down\n\n{text}"), 3000), points(&format!("\n\n{text}"), 3000));
    assert_eq!(points(&format!("# moved down\n{text}"), 3000).x, first.x);
    assert_ne!(points(&text.replace("=a", "=b"), 3000).x, first.x);
}

#[test]
fn a_run_may_lack_what_a_layout_asks_for() {
    let layout = expression("1+metadata(Torus X)+event2.val+metadata(torus x)");
    assert_eq!(layout.metadata_keys().collect::<Vec<_>>(), ["Torus X"]);
    assert_eq!(layout.events(), [false, false, true, false]);
    let points = layout.evaluate(&inputs()).unwrap();
    assert_eq!(points.x[0], 1.0);
    let warnings: Vec<String> = points.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        ["2:5: metadata `Torus X` is missing; 0 is used", "2:23: event2 has no values; 0 is used"]
    );
}

#[test]
fn points_without_a_place_are_counted() {
    let points = expression("1/(rank-2)").evaluate(&inputs()).unwrap();
    let warnings: Vec<String> = points.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["1:1: 1 of 8 points are not drawn: a coordinate is no finite number"]);
}

#[test]
fn values_that_are_too_short_end_in_zeros() {
    let mut inputs = Inputs::new(2000);
    inputs.set_color(Values::PerRank(vec![1.0; 600]));
    let points = expression("color+0").evaluate(&inputs).unwrap();
    assert_eq!((points.x[599], points.x[600], points.x[1999]), (1.0, 0.0, 0.0));
    assert_eq!(points.color, points.x);
}

#[test]
fn of_two_layouts_with_one_name_the_first_counts() {
    let file = LayoutFile::parse(
        b"BEGIN_VIZ=One\nx=1,y=0,z=0\nEND_VIZ\nBEGIN_VIZ=two\nx=0,y=0,z=0\nEND_VIZ\nBEGIN_VIZ=oNe\nx=2,y=0,z=0\nEND_VIZ",
    );
    assert_eq!(file.layouts.iter().map(|layout| layout.name()).collect::<Vec<_>>(), ["One", "two"]);
    assert_eq!(file.layout("ONE").unwrap().evaluate(&Inputs::new(1)).unwrap().x, [1.0]);
    let warnings: Vec<String> = file.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["7:1: layout `oNe` is not used: line 1 has one of the same name"]);
}

#[test]
fn older_files_and_other_encodings_are_read() {
    let file = LayoutFile::parse(b"TOPOLOGY_MAP=4P\xd716\x1b\nx=rank,y=0,z=0\nEND_TOPOLOGY\nTOPOLOGY_EQUATION=b\nx=1\ny=1\nz=1\nEND_TOPOLOGY");
    assert!(file.errors.is_empty(), "{file:?}");
    assert_eq!(file.layouts[0].name(), "4P\u{fffd}16\u{fffd}");
}

#[test]
fn points_that_are_not_drawn_are_reported() {
    let text = "BEGIN_VIZ=a\nx0=0,y0=0,z0=0,x2=0\ny2=0,z2=0,x3=1\nEND_VIZ";
    let warnings: Vec<String> = layout(text).warnings().iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["2:16: point 2 is not drawn: points go on from `x0`, or `x` alone is drawn"]);
    assert_eq!(layout("BEGIN_VIZ=a\nx=1,y=1,z=1,x2=x*x\nEND_VIZ").warnings(), []);
}
