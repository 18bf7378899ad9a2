//! Layouts in the shapes that ParaProf's users have load unchanged.

use crate::support;
use crate::support::layout;
use mpiscope_layout::{Inputs, LayoutFile, Values};

#[test]
fn blocks_of_ranks_side_by_side() {
    let text = "BEGIN_VIZ=4P\u{d7}16Block\nxdim=8,ydim=8,zdim=16\nx=mod(rank,xdim)+16*floor(rank/1024)\n\
                y=mod(floor(rank/xdim),ydim)\nz=mod(floor(rank/xdim/ydim),zdim)\nEND_VIZ\n";
    let points = support::points(text, 4096);
    assert_eq!((points.x[2047], points.y[2047], points.z[2047]), (23.0, 7.0, 15.0));
}

#[test]
fn events_as_coordinates() {
    let text = "BEGIN_VIZ=ScatterTest\nrestrictDim=1\nx=(event0.val-event0.min)/\n  (event0.max-event0.min)\n\
                y=(event1.val-event1.min)/\n  (event1.max-event1.min)\nz=(event2.val-event2.min)/\n  \
                (event2.max-event2.min)\nEND_VIZ\n";
    let mut inputs = Inputs::new(5);
    for event in 0..3 {
        inputs.set_event(event, Values::PerRank(vec![1.0, 3.0, 2.0, 5.0, 4.0]));
    }
    inputs.set_color(Values::PerRank(vec![9.0; 5]));
    let points = layout(text).evaluate(&inputs).unwrap();
    assert_eq!(points.x, [0.0, 0.5, 0.25, 1.0, 0.75]);
    assert_eq!((&points.y, &points.z, points.color[4]), (&points.x, &points.x, 9.0));
    assert_eq!(points.warnings, []);
}

/// The coordinates of another machine: keys that a run here has not are 0, each with one warning.
#[test]
fn metadata_of_other_machines() {
    let text = "BEGIN_VIZ=bent_torus\nCPU=mod(metadata(cpu),2)\ncore=metadata(core)/8\n\
                shift=((metadata(Y Coordinate)*3)+(cpu))\nwidest=metadata(max_x)\nround=(2*pi())\n\
                X=(shift+20)*(cos((metadata(x)/max(widest,1))*round))\n\
                Y=(shift+20)*(sin((metadata(x)/max(widest,1))*round))\nZ=shift+core\nEND_VIZ\n\n\
                BEGIN_VIZ=bent_torus\nx=0\ny=0\nz=0\nEND_VIZ\n";
    let file = LayoutFile::parse(text.as_bytes());
    assert_eq!((file.layouts.len(), file.errors.len(), file.warnings.len()), (1, 0, 1));
    let mut inputs = Inputs::new(3);
    inputs.set_metadata("cpu", Values::PerRank(vec![0.0, 1.0, 2.0]));
    let points = file.layouts[0].evaluate(&inputs).unwrap();
    assert_eq!((points.x.as_slice(), points.z.as_slice()), (&[20.0, 21.0, 20.0][..], &[0.0, 1.0, 0.0][..]));
    let lines: Vec<u32> = points.warnings.iter().map(|warning| warning.position.line).collect();
    assert_eq!(lines, [3, 4, 5, 7]);
}
