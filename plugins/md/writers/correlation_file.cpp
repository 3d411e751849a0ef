#include "plugins/md/writers/correlation_file.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/io/csv.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/memory.hpp"

namespace cambium::md {

void require_room_for_lags(int length, Context& context) {
  constexpr double numbers = 4.0;  // for each lag: its time, its count, the sums over all atoms and over one species
  const double bytes = context.comm.root() ? numbers * sizeof(double) * (length + 1.0) : 0.0;
  require_memory(bytes, fmt::format("sums over {} lags", length), "give a smaller 'max_lag'", context);
}

void write_correlation(const std::string& name, const Context& context, const std::vector<Species>& species,
                       const TimeCorrelation::Result& result, const std::vector<CurveSet>& sets,
                       const std::vector<double>& diffusion, const std::string& diffusion_doc) {
  std::vector<std::string> curves{"all"};
  for (const auto& s : species) curves.push_back(s.symbol);
  const std::filesystem::path folder = context.run_directory;
  io::write_h5_atomically((folder / (name + ".h5")).string(), [&](io::File& file) {
    io::write_provenance(file, io::provenance_of(context));
    io::follow_cf(file);
    io::labelled(file.write("species", curves), "", "species, all for every particle");
    io::labelled(file.write("time", result.time), "ps", "lag");
    io::labelled(file.write("origins", result.origins), "", "number of time origins of each lag");
    io::labelled(file.write("diffusion", diffusion), "angstrom^2/ps", diffusion_doc);
    file.attach_scales("origins", {"time"});
    file.attach_scales("diffusion", {"species"});
    for (const auto& set : sets) {
      std::vector<double> rows;
      for (const auto& curve : set.curve) rows.insert(rows.end(), curve.begin(), curve.end());
      io::labelled(file.write(set.name, io::tensor_of(rows.data(), {std::ssize(set.curve), std::ssize(result.time)})),
                   set.unit, set.doc);
      file.attach_scales(set.name, {"species", "time"});
    }
  });
  std::vector<io::Column> columns{{"time", "ps", ""}};
  std::vector<std::vector<double>> values{result.time};
  for (const auto& set : sets)
    for (std::size_t k = 0; k < curves.size(); ++k) {
      columns.push_back({fmt::format("{} {}", set.name, curves[k]), set.unit, ""});
      values.push_back(set.curve.at(k));
    }
  io::write_csv((folder / (name + ".csv")).string(), columns, values);
}

}  // namespace cambium::md
