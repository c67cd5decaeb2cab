//! What the numbers were measured on, and by what.

use serde::Serialize;

/// A computer, and the program that measures.
#[derive(Debug, Serialize)]
pub(super) struct Computer {
    pub(super) cpu: String,
    /// Threads that run at once.
    pub(super) cores: usize,
    /// Those of the CPU's that reasoners use, with blanks between.
    pub(super) features: String,
    pub(super) system: String,
    pub(super) rustc: &'static str,
    pub(super) gamemaster: &'static str,
    /// Whether the program was compiled with all optimisations.
    pub(super) is_optimised: bool,
}

impl Computer {
    /// This one.
    pub(super) fn this() -> Self {
        Self {
            cpu: cpu().unwrap_or_else(|| "unknown".to_owned()),
            cores: std::thread::available_parallelism().map_or(1, Into::into),
            features: features().join(" "),
            system: format!("{} {}", std::env::consts::ARCH, std::env::consts::OS),
            rustc: env!("GAMEMASTER_RUSTC"),
            gamemaster: env!("CARGO_PKG_VERSION"),
            is_optimised: !cfg!(debug_assertions),
        }
    }
}

/// The CPU's name where the system reports it.
fn cpu() -> Option<String> {
    let told = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = told.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The features that are used: the environment may forbid some.
fn features() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    {
        let vectors = games::compiled_network::vectors();
        let (avx2, avx512) = (vectors != "none", vectors == "avx512");
        let all = [
            ("avx2", avx2),
            ("bmi2", avx2 && is_x86_feature_detected!("bmi2")),
            ("avx512f", avx512 && is_x86_feature_detected!("avx512f")),
            ("avx512vl", avx512 && is_x86_feature_detected!("avx512vl")),
        ];
        all.into_iter().filter(|feature| feature.1).map(|feature| feature.0).collect()
    }
    #[cfg(not(target_arch = "x86_64"))]
    Vec::new()
}
