#include "plugins/superres/evaluate/refinement.hpp"

namespace cambium::superres {

void Refinement::describe(deck::Describe<Refinement>& d) {
  d("models", &Refinement::models, "names among 'models'; each gets a second column, NAME_refined").example("[net]");
  d("steps", &Refinement::steps, "number of descent steps, for every window").at_least(1).def(300);
  d("points", &Refinement::points, "number of points per step at which the equations are evaluated")
      .at_least(1)
      .def(1024);
  d("rate", &Refinement::rate, "initial learning rate of the latent vectors (Adam), decreasing to 0")
      .positive()
      .def(0.2);
  d("weights_rate", &Refinement::weights_rate,
    "initial learning rate of the window's copy of the decoder's weights; 0 keeps them as trained")
      .non_negative()
      .def(0.003);
  d("gamma", &Refinement::gamma,
    "weight of the mean squared residual relative to the mean squared misfit to the coarse samples, in standard "
    "deviations of each field")
      .positive()
      .def(5.0);
}

}  // namespace cambium::superres
