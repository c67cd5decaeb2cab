//! Why there is no machine code.

/// Why there is no machine code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoMachineCode {
    /// Only registers of 256 and 512 lanes are translated for.
    #[error("no machine code for {0} lanes, only for 256 and 512")]
    Width(usize),
    /// Neither AVX2 nor AVX-512.
    #[error("no machine code for this CPU: it has neither AVX2 nor AVX-512")]
    Cpu,
    /// The operating system gives no executable memory.
    #[error("no executable memory from the operating system: {0}")]
    Pages(String),
}
