#pragma once

namespace cambium::assimilate {

/// Correlation function of compact support, a piecewise rational function of fifth order that falls from 1 at distance
/// zero to 0 at twice `half_width` (G. Gaspari and S. E. Cohn, Q. J. R. Meteorol. Soc. 125, 723 (1999), eq. 4.10).
/// 1 everywhere for half_width = 0, which means no localisation.
double gaspari_cohn(double distance, double half_width);

}  // namespace cambium::assimilate
