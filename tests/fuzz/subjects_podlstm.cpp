// Fields over time, bases of modes, the journal of a search.
#include <fstream>

#include "core/io/cf/field.hpp"
#include "tests/fuzz/subjects.hpp"

namespace fuzz {

namespace fs = std::filesystem;

void podlstm_subjects(const Places& places, std::vector<Subject>& out) {
  const std::string head = "run: {name: p, seed: 1}\nplugins: [podlstm]\nstages:\n";
  const std::string make = "  - synthetic_field: {weeks: 160, latitudes: 4, longitudes: 8}\n";
  const std::string pod =
      "  - pod: {field: {files: [FILE], array: sst, missing: land}, modes: 3, training: 100, weights: cos_latitude}\n";
  std::string all = pod;
  all.replace(all.find("FILE"), 4, "\"{run}/synthetic_field/field.h5\"");
  restarted_subjects(places, "pod", head + make + all, {}, out);
  const fs::path field = folder_with(places, "field", places.made / "pod/out/synthetic_field/field.h5");
  out.push_back({"field", Subject::Form::h5, field, "field.h5",
                 [] {
                   const auto file = cambium::io::cf::Field::open("field.h5", {"sst", "", {}, {}});
                   std::vector<std::int64_t> start(file.shape().size(), 0), count = file.shape();
                   if (count.at(0) > 2) count[0] = 2;
                   double numbers = 1.0;
                   for (auto n : count) numbers *= static_cast<double>(n);
                   if (numbers > 1e6) return 0;
                   std::vector<double> values(numbers);
                   file.read(start, count, values.data());
                   return 0;
                 },
                 60});
  std::string alone = pod;
  alone.replace(alone.find("FILE"), 4, "field.h5");
  std::ofstream(field / "deck.yaml") << head + alone;
  out.push_back({"field_stage", Subject::Form::h5, field, "field.h5",
                 [] {
                   return command({"run", "deck.yaml", "run.directory=out"});
                 },
                 15});
  const fs::path basis = folder_with(places, "basis", places.made / "pod/out/pod/pod.h5");
  std::ofstream(basis / "deck.yaml") << head +
                                            "  - forecast: {data: {series: {file: pod.h5}, window: 4, horizon: 2}}\n";
  out.push_back({"series_stage", Subject::Form::h5, basis, "pod.h5",
                 [] {
                   return command({"run", "deck.yaml", "run.directory=out"});
                 },
                 15});
}

}  // namespace fuzz
