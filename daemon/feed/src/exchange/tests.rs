//! What is understood, and what is refused.

use super::*;
use mpiscope_model::Rank;
use serde_json::{Value, json};

fn decode(value: &Value) -> Result<Incoming, InvalidMessage> {
    Incoming::decode(&rmp_serde::to_vec_named(value).unwrap())
}

#[test]
fn what_a_page_sends_is_understood() {
    let ask = json!({"ask": "calls", "id": 7, "from_ns": 5, "to_ns": 9.5, "most": 10});
    let question = RowsQuestion { range_ns: 5..9, ranks: None, most: 10 };
    assert_eq!(decode(&ask), Ok(Incoming::Ask(7, Question::Calls(question))));
    let ask = json!({"ask": "timeline", "id": 1, "from_ns": 9, "to_ns": 3, "bins": 1e9});
    assert_eq!(decode(&ask), Ok(Incoming::Ask(1, Question::Timeline(9..9, BINS_MAX))));
    let ask = json!({"ask": "budget", "id": 2, "from_ns": 1, "to_ns": 9, "ranks": [[0, 3], [7, 7]]});
    let ranks = Some(rank_ranges(&[(0, 3), (7, 7)]));
    assert_eq!(decode(&ask), Ok(Incoming::Ask(2, Question::Budget(1..9, ranks))));
    let ask = json!({"ask": "dag", "id": 2, "from_ns": 5, "to_ns": 9, "ranks": [[0, 3]], "most": 1e9});
    let question = DagQuestion { range_ns: 5..9, ranks: Some(rank_ranges(&[(0, 3)])), most: NODES_MAX };
    assert_eq!(decode(&ask), Ok(Incoming::Ask(2, Question::Dag(question))));
    let ask = json!({"ask": "future", "id": 3, "to_ns": 9, "rank": 4, "time_ns": 7, "most": 1e9});
    let (range_ns, most) = (0..9, CONE_MESSAGES_MAX);
    let question = ConeQuestion { range_ns, rank: Rank(4), at_ns: 7, is_future: true, most };
    assert_eq!(decode(&ask), Ok(Incoming::Ask(3, Question::Cone(question))));
    assert_eq!(decode(&json!({"do": "play", "rate": -0.5})), Ok(Incoming::Do(Command::Play(-0.5))));
    assert_eq!(decode(&json!({"do": "rate", "rate": 0.01})), Ok(Incoming::Do(Command::Rate(0.01))));
    let select = json!({"do": "select", "range_ns": [1, 2], "ranks": null, "hidden": [3]});
    let selection = Selection { range_ns: Some((1.0, 2.0)), ranks: None, hidden: vec![3] };
    assert_eq!(decode(&select), Ok(Incoming::Do(Command::Select(selection))));
}

#[test]
fn what_is_not_said_is_the_usual_and_nobody_gets_more_than_the_most() {
    let rows = |most, ranks| RowsQuestion { range_ns: 5..9, ranks, most };
    let ask = json!({"ask": "messages", "id": 7, "from_ns": 5, "to_ns": 9});
    let question = Question::Messages(rows(MESSAGES_MAX, None));
    assert_eq!(decode(&ask), Ok(Incoming::Ask(7, question)));
    let ask = json!({"ask": "messages", "id": 7, "from_ns": 5, "to_ns": 9, "most": 1e9, "ranks": [[1, 2]]});
    let question = Question::Messages(rows(MESSAGES_MAX, Some(rank_ranges(&[(1, 2)]))));
    assert_eq!(decode(&ask), Ok(Incoming::Ask(7, question)));
    for (bins, expected) in [(0.0, COURSE_BINS_USUAL), (3.0, 3), (1e9, COURSE_BINS_MAX)] {
        let ask = json!({"ask": "courses", "id": 7, "from_ns": 5, "to_ns": 9, "bins": bins});
        let question = CoursesQuestion { range_ns: 5..9, ranks: None, bins: expected };
        assert_eq!(decode(&ask), Ok(Incoming::Ask(7, Question::Courses(question))));
    }
    for (by, open, most, expected) in [
        ("", json!([]), 0.0, (Grouping::Node, vec![], 200)),
        ("region", json!([[0, 64], [8, 8]]), 1e9, (Grouping::Region, vec![(0, 64), (8, 8)], 2_000)),
    ] {
        let ask = json!({"ask": "pending", "id": 7, "time_ns": 70, "by": by, "open": open, "most": most});
        let (by, open, most) = expected;
        let question = Question::Pending(PendingQuestion { at_ns: 70, ranks: None, by, open, most });
        assert_eq!(question.replaceable(), Some(REPLACEABLE - 6));
        assert_eq!(decode(&ask), Ok(Incoming::Ask(7, question)));
    }
    let ask = json!({"ask": "shares", "id": 7, "from_ns": 5, "to_ns": 9, "bins": 1e9, "ranks_per_row": 16.0});
    let question = Question::Shares(SharesQuestion {
        range_ns: 5..9,
        ranks: None,
        ranks_per_row: 16,
        windows: BINS_MAX,
    });
    assert_eq!(question.replaceable(), Some(REPLACEABLE - 5));
    assert_eq!(decode(&ask), Ok(Incoming::Ask(7, question)));
    for (words, function, listed_ns, most) in [
        (json!({}), None, 0..0, 100),
        (json!({"function": 3, "low_ns": 10, "high_ns": 20, "most": 1e9}), Some(3), 10..20, 1_000),
        (json!({"function": 1 << 20, "low_ns": -1}), Some(u16::MAX), 0..0, 100),
    ] {
        let mut ask = json!({"ask": "durations", "id": 7, "from_ns": 5, "to_ns": 9});
        ask.as_object_mut().unwrap().extend(words.as_object().unwrap().clone());
        let question = DurationsQuestion { range_ns: 5..9, ranks: None, function, listed_ns, most };
        assert_eq!(decode(&ask), Ok(Incoming::Ask(7, Question::Durations(question))));
    }
    let ask = json!({"ask": "critical", "id": 7, "from_ns": 5, "to_ns": 9});
    assert_eq!(decode(&ask), Ok(Incoming::Ask(7, Question::Critical(5..9))));
    let ask =
        json!({"ask": "group_graph", "id": 7, "from_ns": 5, "to_ns": 9, "by": "region", "ranks": [[1, 2]]});
    let (ranks, by) = (Some(rank_ranges(&[(1, 2)])), Grouping::Region);
    let question = Question::GroupGraph(GroupGraphQuestion { range_ns: 5..9, ranks, by });
    assert_eq!(decode(&ask), Ok(Incoming::Ask(7, question)));
    let ask =
        json!({"ask": "event", "id": 8, "time_ns": 70, "is_back": true, "ranks": [[0, 0]], "hidden": [3]});
    let question =
        EventQuestion { at_ns: 70, is_back: true, ranks: Some(rank_ranges(&[(0, 0)])), hidden: vec![3] };
    assert_eq!(decode(&ask), Ok(Incoming::Ask(8, Question::Event(question))));
    for (ask, question) in
        [("criteria", Question::Criteria), ("sites", Question::Sites), ("remap", Question::Remap)]
    {
        assert_eq!(question.replaceable(), None);
        assert_eq!(decode(&json!({"ask": ask, "id": 9})), Ok(Incoming::Ask(9, question)));
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    for value in [
        json!({}),
        json!({"ask": "calls", "do": "live"}),
        json!({"ask": "what"}),
        json!({"do": "dance"}),
        json!({"do": "select", "hidden": vec![1; 300]}),
        json!({"ask": "budget", "ranks": vec![(1, 1); 300]}),
        json!({"ask": "dag", "ranks": vec![[1, 2]; 300]}),
        json!({"ask": "messages", "ranks": vec![[1, 2]; 300]}),
        json!({"ask": "pending", "by": "colour"}),
        json!({"ask": "pending", "open": vec![[1, 2]; 9]}),
        json!({"ask": "pending", "ranks": vec![[1, 2]; 300]}),
        json!({"ask": "event", "hidden": vec![1; 300]}),
        json!([1, 2]),
        json!("live"),
    ] {
        assert!(decode(&value).is_err(), "{value}");
    }
    assert!(Incoming::decode(&[0xc1, 0, 0]).is_err());
    let nan =
        rmp_serde::to_vec_named(&[("do", "seek")].into_iter().collect::<std::collections::BTreeMap<_, _>>());
    assert_eq!(Incoming::decode(&nan.unwrap()), Ok(Incoming::Do(Command::Seek(0.0))));
}
