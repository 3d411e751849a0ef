#pragma once
// A few configurations of water, labelled by a random model, as a system on disk.
#include "plugins/deepmd/data/npy_write.hpp"
#include "plugins/deepmd/data/system.hpp"
#include "tests/plugins/deepmd/training_samples.hpp"

namespace cambium::deepmd::test {

/// Frames labelled by a random model, as a system on disk.
inline std::vector<LabelledFrame> labelled(const std::vector<Configuration>& configurations,
                                           const DeepPotentialModel& teacher) {
  auto engine = make_engine(teacher, {});
  std::vector<LabelledFrame> out;
  for (const Configuration& c : configurations) {
    const Evaluation e = cambium::deepmd::test::evaluate(*engine, c);
    LabelledFrame f;
    f.x = c.x;
    f.box = c.box;
    f.energy = e.energy;
    f.force = e.force;
    f.virial.assign(e.virial, e.virial + 9);
    out.push_back(f);
  }
  return out;
}

inline std::string write_water(const Scratch& scratch) {
  const std::vector<Configuration> c = {water(2, 3), water(2, 5), water(2, 7)};
  const std::string folder = scratch.file("system");
  write_system(folder, {"O", "H"}, c[0].types, labelled(c, uneven_model(small_model(9))));
  return folder;
}

}  // namespace cambium::deepmd::test
