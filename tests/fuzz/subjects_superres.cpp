// Fields of convection, checkpoints of it.
#include "plugins/superres/equations/field_file.hpp"
#include "tests/fuzz/subjects.hpp"

namespace fuzz {

namespace fs = std::filesystem;

void superres_subjects(const Places& places, std::vector<Subject>& out) {
  const std::string deck = R"(
run: {name: r, seed: 42}
plugins: [superres]
stages:
  - simulate:
      physics: rayleigh_benard
      rayleigh: 1e4
      aspect_ratio: 4
      cells: [16, 8]
      initial: {noise: 1e-3}
      end_time: 5
      steps: 4
      thermo: {every: 1}
      checkpoint: {every: 2, keep: 1}
      output:
        - {type: fields, interval: 1}
        - {type: spectrum, every: 2}
)";
  restarted_subjects(places, "convection", deck, {"simulate/restart.4.h5", "simulate/fields.h5"}, out, 30);
  const fs::path folder = folder_with(places, "fields", places.made / "convection/out/simulate/fields.h5");
  out.push_back({"fields", Subject::Form::h5, folder, "fields.h5",
                 [] {
                   const cambium::superres::FieldFile file("fields.h5");
                   std::array<std::int64_t, 3> whole{};
                   for (int axis = 0; axis < 3; ++axis) whole[axis] = std::ssize(file.coordinate(axis));
                   for (const char* name : {"b", "u", "p"}) file.read(name, whole, 0);
                   file.hidden(whole, 0);
                   return 0;
                 },
                 60});
}

}  // namespace fuzz
