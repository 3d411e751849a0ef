#include "plugins/assimilate/twin/filter_keys.hpp"

namespace cambium::assimilate {

void FilterKeys::describe(deck::Describe<FilterKeys>& d) {
  d("type", &FilterKeys::type,
    "filter: free_run (no analysis); direct_insertion; nudging (successive corrections); optimal_interpolation (prior "
    "is the climatological mean); 3dvar (climatological covariance); etkf, letkf (ensemble transform Kalman filter, "
    "global or local)")
      .options({{"free_run", Type::free_run},
                {"direct_insertion", Type::direct_insertion},
                {"nudging", Type::nudging},
                {"optimal_interpolation", Type::optimal_interpolation},
                {"3dvar", Type::var3d},
                {"etkf", Type::etkf},
                {"letkf", Type::letkf}});
  d("members", &FilterKeys::members, "ensemble size of etkf and letkf").at_least(2).def(24);
  d("inflation", &FilterKeys::inflation, "etkf, letkf: factor of the background anomalies before each analysis")
      .positive()
      .def(1.0);
  d("adaptive_inflation", &FilterKeys::adaptive_inflation,
    "etkf, letkf: inflation estimated from the innovations, with 'inflation' as the first value")
      .def(false);
  d("relaxation", &FilterKeys::relaxation,
    "etkf, letkf: relaxation to the background spread: fraction of the reduction of spread that is undone after an "
    "analysis")
      .range(0.0, 1.0)
      .def(0.0);
  d("localisation", &FilterKeys::localisation,
    "half-width c of the Gaspari-Cohn function, in the model's unit of length: observations farther than 2 c have no "
    "influence; letkf and nudging need one; 0: no localisation")
      .non_negative()
      .def(0.0);
  d("covariance_scale", &FilterKeys::covariance_scale,
    "optimal_interpolation, 3dvar: background covariance over that of the climatology")
      .positive()
      .def(1.0);
  d("gain", &FilterKeys::gain, "nudging: fraction of the misfit that an analysis removes")
      .positive()
      .at_most(1.0)
      .def(1.0);
  d.check([](const FilterKeys& k) {
    return k.localisation == 0.0 && (k.type == Type::letkf || k.type == Type::nudging)
               ? "letkf and nudging need 'localisation', the half-width of an observation's influence; etkf has none"
               : "";
  });
  d.check([](const FilterKeys& k) {
    return k.localisation > 0.0 && k.type == Type::etkf ? "etkf has no 'localisation': take letkf" : "";
  });
}

}  // namespace cambium::assimilate
