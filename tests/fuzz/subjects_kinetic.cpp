// Checkpoints and outputs of plasma runs.
#include "tests/fuzz/subjects.hpp"

namespace fuzz {

void kinetic_subjects(const Places& places, std::vector<Subject>& out) {
  const std::string deck = R"(
run: {name: landau}
plugins: [kinetic]
stages:
  - simulate:
      physics: vlasov_maxwell
      parameters: {k: 0.5, a: 1e-4}
      domain: {lower: [0], upper: [2*pi/k], cells: [6]}
      basis: {family: serendipity, order: 2}
      species:
        - name: electron
          charge: -1
          mass: 1
          velocity: {lower: [-6], upper: [6], cells: [8]}
          f0: (1 + a*cos(k*x)) * maxwellian(v)
      end_time: 5
      steps: 4
      thermo: {every: 1}
      checkpoint: {every: 2, keep: 1}
      observables:
        growth_rate: {oscillating: true, start_time: 0, end_time: 5}
      output:
        - {type: moments, every: 1}
)";
  restarted_subjects(places, "kinetic", deck, {"simulate/restart.4.h5"}, out, 60);
}

}  // namespace fuzz
