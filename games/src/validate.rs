//! From a rulesheet to a game, or to all the reasons why not.
