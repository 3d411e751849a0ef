#include "core/train/run/loss_spikes.hpp"

#include <algorithm>

#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/gather.hpp"
#include "core/train/data/numbers.hpp"

namespace cambium::train {

void LossSpikeKeys::describe(deck::Describe<LossSpikeKeys>& d) {
  d("factor", &LossSpikeKeys::factor, "multiple of the running median above which the loss of a step is a spike")
      .greater_than(1.0)
      .def(3.0);
  d("window", &LossSpikeKeys::window, "number of preceding steps over whose losses the median is taken")
      .at_least(3)
      .def(50);
  d("keep", &LossSpikeKeys::keep, "largest number of spikes that are written").at_least(1).def(3);
}

std::optional<double> LossSpikes::look(double loss) {
  std::optional<double> out;
  if (std::ssize(window_) == keys_.window) {
    auto sorted = window_;
    const auto middle = sorted.begin() + std::ssize(sorted) / 2;
    std::nth_element(sorted.begin(), middle, sorted.end());
    if (found_ < keys_.keep && loss > keys_.factor * *middle) out = *middle, ++found_;
    window_.erase(window_.begin());
  }
  window_.push_back(loss);
  return out;
}

std::vector<double> LossSpikes::kept() const {
  std::vector<double> out{static_cast<double>(found_)};
  out.insert(out.end(), window_.begin(), window_.end());
  return out;
}

void LossSpikes::take(std::span<const double> kept) {
  if (kept.empty()) return;
  found_ = static_cast<std::int64_t>(kept[0]);
  const auto losses = kept.subspan(1).last(std::min(kept.size() - 1, static_cast<std::size_t>(keys_.window)));
  window_.assign(losses.begin(), losses.end());
}

/// Collective: a field of all samples of all ranks on rank 0, or none if its shape varies.
static std::optional<std::vector<double>> gathered(const FieldInfo& field, const std::vector<SamplePtr>& samples,
                                                   const Comm& comm) {
  std::int64_t each = 1;
  for (const auto extent : field.shape) each *= extent;
  const auto fits = [&](const SamplePtr& sample) {
    const auto found = sample->fields.find(field.name);
    return found != sample->fields.end() && found->second.elements() == each;
  };
  const bool all = each >= 0 && std::all_of(samples.begin(), samples.end(), fits);
  if (comm.max(all ? 0 : 1) == 1) return {};
  std::vector<double> out(samples.size() * static_cast<std::size_t>(each));
  for (std::size_t k = 0; k < samples.size(); ++k)
    copy_numbers<double>(samples[k]->fields.find(field.name)->second,
                         std::span(out).subspan(k * static_cast<std::size_t>(each), static_cast<std::size_t>(each)));
  out = gather(out, comm);
  return out;
}

static TensorRef rows_of(const std::vector<double>& numbers, std::int64_t rows,
                         const std::vector<std::int64_t>& shape) {
  TensorRef out = io::tensor_of(numbers);
  out.shape[0] = rows;
  out.rank = 1;
  for (const auto extent : shape) out.shape[out.rank++] = extent;
  for (std::int64_t stride = 1, k = out.rank - 1; k >= 0; stride *= out.shape[k--]) out.stride[k] = stride;
  return out;
}

void write_spike_batch(const std::string& path, const LossSpike& spike, const Share& share, const Loss& loss,
                       const std::vector<TermInfo>& terms, const std::vector<FieldInfo>& fields,
                       const Context& context) {
  const Comm& comm = context.comm;
  std::vector<SamplePtr> samples;
  for (const auto& slice : share.slices) samples.insert(samples.end(), slice.begin(), slice.end());
  std::vector<std::int64_t> ids, ranks(samples.size(), comm.rank());
  for (const auto& sample : samples) ids.push_back(sample->id);
  ids = gather(ids, comm);
  ranks = gather(ranks, comm);
  std::vector<std::pair<const FieldInfo*, std::vector<double>>> found;
  for (const auto& field : fields)
    if (auto numbers = gathered(field, samples, comm)) found.emplace_back(&field, std::move(*numbers));
  io::on_root(comm, [&] {
    io::write_h5_atomically(path, [&](io::File& file) {
      file.set_attribute("step", spike.step);
      file.set_attribute("loss", loss.value);
      file.set_attribute("median", spike.median);
      for (std::size_t k = 0; k < terms.size(); ++k)
        file.set_attribute("term_" + terms[k].name, reported(terms[k], loss.terms[k]));
      file.write("id", ids);
      file.write("rank", ranks);
      for (const auto& [field, numbers] : found)
        file.write("/fields/" + field->name, rows_of(numbers, std::ssize(ids), field->shape))
            .set_attribute("units", field->unit);
    });
  });
}

}  // namespace cambium::train
