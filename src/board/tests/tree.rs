//! Trees of the states of small games.

use super::*;

/// A game of one role that walks along arcs, given as `from move to`; `rules` say more.
fn walk(arcs: &[String], rules: &str) -> Arc<Game> {
    walk_from("top", arcs, rules)
}

fn walk_from(start: &str, arcs: &[String], rules: &str) -> Arc<Game> {
    let arcs: String = arcs.iter().map(|arc| format!("(arc {arc})")).collect();
    let frame = "(role robot) (init (sun shines)) (next (sun shines))
        (<= (legal robot ?a) (true (at ?n)) (arc ?n ?a ?m))
        (<= (next (at ?m)) (does robot ?a) (true (at ?n)) (arc ?n ?a ?m))
        (<= inner (true (at ?n)) (arc ?n ?a ?m))
        (<= terminal (not inner))
        (goal robot 7)";
    let text = format!("{frame} (init (at {start})) {arcs} {rules}");
    let game = games::validate::read("x", &text, games::Case::Folded, Leniency::Strict).game;
    Arc::new(game.expect("a game"))
}

fn arcs(text: &str) -> Vec<String> {
    text.split(", ").map(str::to_owned).collect()
}

/// The tree of a game, of which these positions are known.
fn tree(game: &Game, positions: &[Vec<Expression>]) -> Option<GameTree> {
    GameTree::new(game, &StateGraph::find(game, positions)?)
}

fn drawn(tree: &GameTree, at: &str) -> String {
    tree.picture(&tree.own_facts(&facts(at))).text()
}

fn check(game: &Arc<Game>, at: &str, expected: Expect) {
    let positions = positions(game, Some(Pcg64Mcg::seed_from_u64(1)), 8);
    let tree = tree(game, &positions).expect("a tree");
    expected.assert_eq(&drawn(&tree, at));
}

#[test]
fn a_map_goes_on_from_the_node_next_to_the_root() {
    let ring = arcs("top east a, a east b, b east top, a leave out, b stay b");
    check(
        &walk(&ring, ""),
        "(at b)",
        expect![[r#"
              top
              `- east: a
            *    |- east: b
                 |  |- east: top ^
                 |  `- stay: b ^
                 `- leave: out = 7
        "#]],
    );
}

/// What is known of a step count tells no states apart, unless moves depend on it.
#[test]
fn counted_steps_are_no_states() {
    let steps: String = (1..90).map(|step| format!("(after {step} {})", step + 1)).collect();
    let count = format!(
        "{steps} (init (step 1)) (<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
        (<= terminal (true (step 90)))"
    );
    let ring = arcs("top east a, a east top, a leave out");
    let expected = expect![[r#"
          top
        * `- east: a
             |- east: top ^
             `- leave: out = 7
    "#]];
    check(&walk(&ring, &count), "(at a)\n(step 6)", expected);
    let late = "(<= (legal robot jump) (true (step 3)))
        (<= (next (at out)) (does robot jump))";
    let game = walk(&arcs("top east a, a east b, b east c"), &format!("{count} {late}"));
    let expected = expect![[r#"
          top
          `- east: a
        *    `- east: b
                |- east: c = 7
                `- jump: out = 7
    "#]];
    check(&game, "(at b)\n(step 3)", expected);
    let positions = positions(&game, None, 3);
    let tree = tree(&game, &positions).unwrap();
    let shows = |fact: &str| tree.shows(&fact.parse().unwrap());
    assert!(shows("(at b)"));
    assert!(!shows("(step 3)") && !shows("(sun shines)") && !shows("(at nowhere)"));
}

#[test]
fn roles_and_chance_are_told_apart() {
    let rules = "(role left) (role right) (role random) (init (at top))
        (<= (legal random (roll ?n)) (true (at top)) (face ?n)) (face 1) (face 2) (face 3)
        (<= (legal ?p noop) (role ?p) (true (at top)) (distinct ?p random))
        (<= (legal ?p show) (true (at game)) (role ?p) (distinct ?p random))
        (<= (legal ?p hide) (true (at game)) (role ?p) (distinct ?p random))
        (<= (legal right go) (true (at hall)))
        (<= (legal left noop) (true (at hall)))
        (<= (legal random noop) (not (true (at top))))
        (<= (next (at hall)) (does random (roll 1)))
        (<= (next (at game)) (does random (roll ?n)) (distinct ?n 1))
        (<= (next (at same)) (does left ?m) (does right ?m) (true (at game)))
        (<= (next (at other)) (does left ?m) (does right ?n) (distinct ?m ?n) (true (at game)))
        (<= (next (at other)) (true (at hall)))
        (<= terminal (true (at same))) (<= terminal (true (at other)))
        (<= (goal left 100) (true (at same))) (<= (goal left 30) (not (true (at same))))
        (goal right 50) (goal random 100)";
    let game = games::validate::read("x", rules, games::Case::Folded, Leniency::Strict).game;
    check(
        &Arc::new(game.expect("a game")),
        "(at game)",
        expect![[r#"
              top (chance)
              |- roll 1 (1/3): hall (right)
              |  `- go: other = left 30, right 50
            * `- roll 2/3 (2/3): game (left and right)
                 |- show, show / hide, hide: same = left 100, right 50
                 `- show, hide / hide, show: other = left 30, right 50
        "#]],
    );
}

/// Nodes of the picture of a state.
fn nodes(tree: &GameTree, at: &str) -> Vec<TreeNode> {
    tree.picture(&tree.own_facts(&facts(at))).nodes
}

/// A tree of two ways from each of 127 places, which are numbered as in a heap.
#[test]
fn a_large_tree_is_drawn_from_the_state_and_cut() {
    let name = |number: usize| if number == 1 { "top".to_owned() } else { format!("n{number}") };
    let arc = |number: usize| {
        [("left", 0), ("right", 1)]
            .map(|(way, more)| format!("{} {way} {}", name(number), name(2 * number + more)))
    };
    let game = walk(&(1..64).flat_map(arc).collect::<Vec<_>>(), "");
    let tree = tree(&game, &[]).unwrap();
    let whole = nodes(&tree, "(at top)");
    assert_eq!(whole.len(), 39);
    let is_cut = |node: &&TreeNode| node.n_hidden > 0;
    // Five levels, and eight places of the sixth.
    assert_eq!(whole.iter().filter(is_cut).count(), 12 + 8);
    assert!(drawn(&tree, "(at top)").contains("n31 ...\n"));
    assert_eq!(tree.signs(), ["* this state", "... not drawn"]);
    let below = nodes(&tree, "(at n8)");
    assert_eq!((below.len(), below[0].name.as_str()), (15, "n8"));
    assert!(below[0].is_here && !below.iter().any(|node| node.n_hidden > 0));
    let end = expect![[r#"
          n63
          |- left: n126 = 7
        * `- right: n127 = 7
    "#]];
    end.assert_eq(&drawn(&tree, "(at n127)"));
}

#[test]
fn of_many_ways_the_first_are_drawn() {
    let many: Vec<String> = (1..=60).map(|way| format!("top m{way} n{way}")).collect();
    let tree = tree(&walk(&many, ""), &[]).unwrap();
    let text = drawn(&tree, "(at top)");
    assert_eq!(text.lines().count(), 41);
    assert!(text.ends_with("  |- m39: n39 = 7\n  `- 21 more ...\n"), "{text}");
    // The end that is not among them is drawn alone.
    assert!(drawn(&tree, "(at n39)").contains("* |- m39: n39 = 7\n"));
    assert_eq!(drawn(&tree, "(at n40)"), "* n40 = 7\n");
}

#[test]
fn lines_are_not_too_long() {
    let far = |at: usize| {
        let [from, to] = [at, at + 1].map(|number| match number {
            0 => "top".to_owned(),
            _ => format!("place_of_a_long_name_{number}"),
        });
        [format!("{from} go_on_to_the_next_place {to}"), format!("{from} leave out")]
    };
    let tree = tree(&walk(&(0..20).flat_map(far).collect::<Vec<_>>(), ""), &[]).unwrap();
    let text = drawn(&tree, "(at top)");
    let longest = text.lines().map(|line| line.chars().count()).max();
    assert_eq!(longest, Some(74), "{text}");
    // There are two on each of fourteen levels.
    assert_eq!(text.lines().count(), 1 + 2 * 14);
}

#[test]
fn the_only_line_to_a_state_is_marked() {
    let names = |game: &Game, at: &str| -> Vec<String> {
        let nodes = nodes(&tree(game, &[]).unwrap(), at).into_iter();
        nodes.filter(|node| node.is_on_line).map(|node| node.name).collect()
    };
    let two = arcs("top l a, top r b, a l end1, a r end2, b l end2");
    let game = walk(&two, "");
    assert_eq!(names(&game, "(at end1)"), ["top", "a", "end1"]);
    assert!(names(&game, "(at end2)").is_empty());
}

/// Two states; one way only; long names; too many states.
#[test]
fn other_games_are_no_trees() {
    let check_none = |arcs_of: &[String], rules: &str| {
        assert_eq!(tree(&walk(arcs_of, rules), &[]), None, "{arcs_of:?}");
    };
    check_none(&arcs("top l top, top r a"), "");
    check_none(&arcs("top l a, a l b, b l c"), "");
    check_none(&arcs("top l a, top r a_name_that_is_longer_than_there_is_room"), "");
    let many: Vec<String> = (0..300).map(|way| format!("top m{way} n{way}")).collect();
    check_none(&many, "");
    // A state that play never reaches is named by its facts.
    let tree = tree(&walk(&arcs("top l a, top r b, b l top"), ""), &[]).unwrap();
    assert_eq!(drawn(&tree, "(at a)\n(at b)"), "* (at a) (at b)\n");
}

/// Lamps of which a match may light one at a time; and a match of which no board shows anything.
#[test]
fn all_states_show_what_a_match_does_not() {
    let rules = "(role robot) (lamp 1) (lamp 2) (lamp 3)
        (<= (base (on ?l)) (lamp ?l)) (<= (legal robot (switch ?l)) (lamp ?l))
        (<= (next (on ?l)) (does robot (switch ?l)) (not (true (on ?l))))
        (<= (next (on ?l)) (true (on ?l)) (does robot (switch ?k)) (distinct ?k ?l))
        (<= terminal (true (on 1)) (true (on 2)) (true (on 3))) (goal robot 0)";
    let game = games::validate::read("x", rules, games::Case::Folded, Leniency::Strict).game;
    let positions = ["", "(on 2)"].map(facts);
    let boards = find(&game.expect("a game"), &positions).unwrap();
    assert_eq!(boards.draw(&positions[1]), "on  . 2 .\n");
    assert!(boards.iter().all(Board::is_table));
    let boards = find(&walk(&arcs("top l a, top r b, a l c"), ""), &[facts("(at top)")]).unwrap();
    assert!(boards.iter().all(Board::is_tree) && !boards.have_places());
}

/// Facts that all states have must not take memory for each of them.
#[test]
fn states_of_many_facts_are_no_tree() {
    let grass = |n: usize| -> String {
        (0..n).map(|at| format!("(init (grass {at})) (next (grass {at}))")).collect()
    };
    let arcs = arcs("top l a, top r b");
    assert!(tree(&walk(&arcs, &grass(400)), &[]).is_some());
    assert_eq!(tree(&walk(&arcs, &grass(600)), &[]), None);
    // Known positions are enough to see it.
    let position: Vec<Expression> =
        (0..600).map(|at| format!("(grass {at})").parse().unwrap()).collect();
    assert_eq!(tree(&walk(&arcs, ""), &[position]), None);
}

/// A game of one role that says where it goes; `rules` say from which facts to which.
fn goes(rules: &str) -> Arc<Game> {
    let frame = "(role robot) (init (at top)) (goal robot 7) (<= terminal (not (true (at top))))
        (way 1) (way 2) (way 3) (<= (legal robot (go ?n)) (way ?n))";
    let text = format!("{frame} {rules}");
    let game = games::validate::read("x", &text, games::Case::Folded, Leniency::Strict).game;
    Arc::new(game.expect("a game"))
}

#[test]
fn different_states_have_different_names() {
    let game = goes(
        "(<= (next (left a)) (does robot (go 1))) (<= (next (right a)) (does robot (go 2)))
        (<= (next (right b)) (does robot (go 3)))",
    );
    let tree = tree(&game, &[]).unwrap();
    let expected = expect![[r#"
        * at top
          |- go 1: left a = 7
          |- go 2: right a = 7
          `- go 3: right b = 7
    "#]];
    expected.assert_eq(&drawn(&tree, "(at top)"));
}

/// Where moves depend on the step, a state may be met at several steps.
#[test]
fn states_that_differ_in_the_step_only_are_no_tree() {
    let late = "(init (step 1)) (after 1 2) (after 2 3) (after 3 4) (after 4 5)
        (<= (next (step ?n)) (true (step ?m)) (after ?m ?n)) (<= terminal (true (step 5)))
        (<= (legal robot jump) (true (step 3))) (<= (next (at out)) (does robot jump))";
    let game = walk(&arcs("top stay top, top east a, a stay a, a west top"), late);
    let positions = ["(at top)\n(sun shines)\n(step 1)", "(at a)\n(sun shines)\n(step 2)"];
    assert!(StateGraph::find(&game, &positions.map(facts)).is_some());
    assert_eq!(tree(&game, &positions.map(facts)), None);
}

/// A match that walks straight on does not show that one can also wait, or go back.
#[test]
fn places_with_numbers_are_no_steps() {
    for more in ["2 wait 2, 3 wait 3", "2 back 1, 3 back 2, 4 back 3", "1 jump 3"] {
        let game = walk_from("1", &arcs(&format!("1 on 2, 2 on 3, 3 on 4, 4 out 5, {more}")), "");
        let straight = ["(at 1)\n(sun shines)", "(at 2)\n(sun shines)", "(at 3)\n(sun shines)"];
        let tree = tree(&game, &straight.map(facts)).expect(more);
        let picture = drawn(&tree, "(at 2)\n(sun shines)");
        assert!(picture.contains("on: 2\n") && picture.contains("out: 5 = 7\n"), "{picture}");
        assert!(tree.shows(&"(at 2)".parse().unwrap()));
    }
    // All ways lead to the next number.
    let game = walk_from("1", &arcs("1 on 2, 1 run 2, 2 on 3, 3 on 4"), "");
    assert_eq!(tree(&game, &["(at 1)", "(at 2)"].map(facts)), None);
}

/// What can be done at the seventh step only is not seen where states of three steps are looked at.
#[test]
fn a_position_of_the_match_is_in_the_tree() {
    let steps: String = (1..9).map(|step| format!("(after {step} {})", step + 1)).collect();
    let rules = format!(
        "{steps} (init (step 1)) (<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
        (<= terminal (true (step 9)))
        (<= (legal robot jump) (true (step 7))) (<= (next (at moon)) (does robot jump))"
    );
    let game = walk(&arcs("top l a, top r b, a l top, b l top"), &rules);
    let moves = ["top", "a", "top", "a", "top", "b", "top", "moon"].iter().enumerate();
    let position = |(at, place): (usize, &&str)| {
        facts(&format!("(at {place})\n(sun shines)\n(step {})", at + 1))
    };
    let positions: Vec<Vec<Expression>> = moves.map(position).collect();
    let is_moon =
        |state: &state_graph::GameState| state.facts.contains(&"(at moon)".parse().unwrap());
    let graph = StateGraph::find(&game, &positions).unwrap();
    assert!(graph.states.iter().any(is_moon));
    let graph = StateGraph::find(&game, &positions[..7]).unwrap();
    assert!(!graph.states.iter().any(is_moon));
}

/// Each state has many roles that are asked.
#[test]
fn not_too_many_questions_are_asked() {
    let roles = |n: usize| -> String {
        (0..n).map(|at| format!("(role r{at}) (legal r{at} wait) (goal r{at} 0)")).collect()
    };
    let ways: Vec<String> = (0..60).map(|way| format!("top m{way} n{way}")).collect();
    assert!(tree(&walk(&ways, &roles(20)), &[]).is_some());
    assert_eq!(tree(&walk(&ways, &roles(80)), &[]), None);
}

/// The picture of the root of a large tree does not show that some states are reached twice.
#[test]
fn the_legend_is_that_of_all_states() {
    let far = |at: usize| {
        let name = |at: usize| if at == 0 { "top".to_owned() } else { format!("n{at}") };
        [format!("{} on {}", name(at), name(at + 1)), format!("{} leave out", name(at))]
    };
    let mut arcs: Vec<String> = (0..20).flat_map(far).collect();
    arcs.push("n19 back n18".to_owned());
    let tree = tree(&walk(&arcs, ""), &[]).unwrap();
    assert!(!drawn(&tree, "(at top)").contains('^'));
    assert!(drawn(&tree, "(at n18)").contains("back: n18 ^"));
    assert_eq!(tree.signs(), ["* this state", "^ drawn elsewhere", "... not drawn"]);
}
