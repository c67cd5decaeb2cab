//! Evaluations that are learned by self-play.
//!
//! ```text
//! StateMachine -> discovery -> Trainer -> LinearEvaluation -> Evaluator -> a search
//! ```
//!
//! `feature` says what a feature of a state is, `order` which constants the rules put in
//! order, `discovery` finds the features of a game, `extractor` computes them, `trainer`
//! fits their weights, `evaluation` is the result as a value, and `pieces` sums it up by
//! kind of piece. This crate opens no files: whoever calls it reads and writes evaluations.
//!
//! The idea is Samuel's ("Some Studies in Machine Learning Using the Game of Checkers",
//! 1959), the method of fitting Sutton's ("Learning to Predict by the Methods of Temporal
//! Differences", 1988), its use for games Tesauro's ("Temporal Difference Learning and
//! TD-Gammon", 1995).

mod discovery;
mod evaluation;
mod extractor;
mod feature;
mod order;
mod pieces;
#[cfg(test)]
mod tests;
mod trainer;

pub(crate) use evaluation::Evaluator;
pub use evaluation::{EvaluationError, LinearEvaluation, WeightedFeature};
pub use feature::{Feature, FeatureError, Pattern};
pub use pieces::{PieceWeight, piece_weights};
pub use trainer::{TrainError, Trainer, TrainingSettings};
