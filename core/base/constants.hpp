#pragma once

/// Pi, and physical constants in metal units (eV, Å, ps, g/mol, K, bar). Values: CODATA 2018 (E. Tiesinga et al., Rev.
/// Mod. Phys. 93, 025010 (2021)); e, k_B, N_A are exact there since the SI of 2019.
namespace cambium::constants {

inline constexpr double pi = 3.14159265358979323846;
inline constexpr double elementary_charge = 1.602176634e-19;  ///< C
inline constexpr double avogadro = 6.02214076e23;             ///< 1/mol
/// Boltzmann's constant, eV/K.
inline constexpr double boltzmann = 1.380649e-23 / elementary_charge;
/// Energy of 1 g/mol (Å/ps)^2 in eV: 1e-3 kg/g times 1e4 (m/s)^2 over N_A e. Kinetic energy is mvv2e m v^2 / 2.
inline constexpr double mvv2e = 10.0 / (avogadro * elementary_charge);
/// Acceleration in Å/ps^2 of 1 g/mol under 1 eV/Å.
inline constexpr double ftm2v = 1.0 / mvv2e;
/// Pressure of 1 eV/Å^3 in bar.
inline constexpr double bar_per_ev_per_a3 = 1.602176634e6;
/// e^2 / (4 pi epsilon_0) in eV Å (alpha hbar c).
inline constexpr double coulomb = 14.3996454784255;
inline constexpr double joule_per_hartree = 4.3597447222071e-18;
inline constexpr double ev_per_hartree = 27.211386245988;
inline constexpr double angstrom_per_bohr = 0.529177210903;

}  // namespace cambium::constants
