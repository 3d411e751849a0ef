#include "plugins/submatrix/datasets/local_spectra.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/submatrix/datasets/spectra_file.hpp"

namespace cambium::submatrix {

void SpectraSet::Params::describe(deck::Describe<Params>& d) {
  d("files", &Params::files, "files that a stage local_spectra wrote").example("[\"{run}/local_spectra/train.h5\"]");
}

namespace {

struct Memory {
  LevelSample sample;
  std::vector<double> levels, window, functions;
};

train::SamplePtr make_sample(LevelSample from, const SpectraFile& file, std::int64_t id) {
  auto memory = std::make_shared<Memory>();
  memory->levels = {from.homo, from.lumo};
  memory->window = {file.window.low, file.window.high};
  memory->functions = {static_cast<double>(file.functions)};
  memory->sample = std::move(from);
  auto out = std::make_shared<train::Sample>();
  out->id = id;
  out->fields.emplace("moments", io::tensor_of(memory->sample.moments.data(), {memory->sample.columns, file.count}));
  out->fields.emplace("band_energy", io::tensor_of(memory->sample.energy));
  out->fields.emplace("levels", io::tensor_of(memory->levels));
  out->fields.emplace("window", io::tensor_of(memory->window));
  out->fields.emplace("functions", io::tensor_of(memory->functions));
  out->bytes = 8 * (std::ssize(memory->sample.moments) + std::ssize(memory->sample.energy) + 5);
  out->storage = memory;
  return out;
}

}  // namespace

void SpectraSet::open(Context& context) {
  io::on_every_rank(context.comm, [&] {
    samples_.clear();
    SpectraFile first;
    for (const auto& path : params_.files) {
      if (!std::filesystem::exists(path))
        throw InputError(fmt::format("file '{}' does not exist; a stage local_spectra writes it", path));
      SpectraFile file = read_spectra(path);
      if (samples_.empty()) first = {file.window, file.functions, file.count, {}};
      if (file.count != first.count || file.functions != first.functions || file.window.low != first.window.low ||
          file.window.high != first.window.high)
        throw InputError(
            fmt::format("'{}' and '{}' have other windows, block sizes or numbers of moments; let one stage "
                        "local_spectra write both",
                        params_.files.front(), path));
      for (auto& sample : file.samples) samples_.push_back(make_sample(std::move(sample), file, std::ssize(samples_)));
    }
    count_ = first.count;
    bytes_ = 0;
    for (const auto& sample : samples_) bytes_ += sample->bytes;
  });
}

std::vector<train::FieldInfo> SpectraSet::fields() const {
  return {{"moments", "", {-1, count_}},
          {"band_energy", "hartree", {-1}},
          {"levels", "hartree", {2}},
          {"window", "hartree", {2}},
          {"functions", "", {1}}};
}

std::vector<train::SamplePtr> SpectraSet::read(std::span<const std::int64_t> ids) {
  std::vector<train::SamplePtr> out;
  for (auto id : ids) out.push_back(samples_.at(id));
  return out;
}

}  // namespace cambium::submatrix
