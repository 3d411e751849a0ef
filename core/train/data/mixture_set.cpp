#include "core/train/data/mixture_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/key_error.hpp"
#include "core/plugin/registry.hpp"

namespace cambium::train {

void MixtureSet::Part::describe(deck::Describe<Part>& d) {
  d("dataset", &Part::dataset, "data set of this part");
  d("weight", &Part::weight,
    "weight of this set: its fraction of the samples is the weight over the sum of all weights")
      .positive()
      .def(1.0);
}

void MixtureSet::Params::describe(deck::Describe<Params>& d) {
  d("sets", &Params::sets, "data sets of the mixture and their weights");
  d("samples", &Params::samples,
    "number of samples of the mixture, which an epoch passes; default: enough that each sample of each set occurs at "
    "least once")
      .at_least(1);
  d.check([](const Params& p) -> std::string {
    return p.sets.empty() ? "a mixture needs sets: [{dataset: {...}, weight: 1}, ...]" : "";
  });
}

MixtureSet::MixtureSet(const Params& params, Context& context) : params_(params) {
  for (const auto& part : params.sets) sets_.push_back(context.registry->make<Dataset>(part.dataset, context));
}

std::vector<std::int64_t> counts_of_mixture(std::span<const double> weights, std::span<const std::int64_t> sizes,
                                            std::optional<std::int64_t> samples) {
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::int64_t> out;
  if (!samples) {
    double passes = 0.0;  // samples of the mixture for one unit of weight
    for (std::size_t k = 0; k < sizes.size(); ++k)
      passes = std::max(passes, static_cast<double>(sizes[k]) / weights[k]);
    for (std::size_t k = 0; k < sizes.size(); ++k)
      out.push_back(std::max(sizes[k], static_cast<std::int64_t>(std::llround(passes * weights[k]))));
    return out;
  }
  std::vector<std::pair<double, std::size_t>> rest;
  std::int64_t left = *samples;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const double share = static_cast<double>(*samples) * weights[k] / all;
    out.push_back(static_cast<std::int64_t>(share));
    rest.emplace_back(static_cast<double>(out.back()) - share, k);
    left -= out.back();
  }
  std::stable_sort(rest.begin(), rest.end());
  for (std::size_t k = 0; left > 0; ++k, --left) ++out[rest[k % rest.size()].second];
  return out;
}

/// Checks that another set has the same fields as the first one.
static void require_same(const std::vector<FieldInfo>& first, const std::vector<FieldInfo>& other, std::size_t number) {
  const auto differs = [&](const std::string& name, const std::string& how) {
    throw KeyError("train.mixture.fields", "dataset.sets",
                   fmt::format("the field '{}' {} in set {} of the mixture; give sets that agree", name, how, number));
  };
  for (const auto& field : first) {
    const auto found =
        std::find_if(other.begin(), other.end(), [&](const FieldInfo& info) { return info.name == field.name; });
    if (found == other.end()) differs(field.name, "of set 1 is missing");
    if (found->unit != field.unit)
      differs(field.name, fmt::format("is in '{}' in set 1, but in '{}'", field.unit, found->unit));
    if (!same_classes(*found, field)) differs(field.name, "has other categories than in set 1");
    if (found->dtype != field.dtype || found->shape.size() != field.shape.size())
      differs(field.name, "has another type or number of axes than in set 1");
  }
}

void MixtureSet::open(Context& context) {
  std::vector<double> weights;
  std::vector<std::int64_t> sizes;
  for (std::size_t k = 0; k < sets_.size(); ++k) {
    sets_[k]->open(context);
    if (sets_[k]->size() == 0)
      throw KeyError("train.mixture.empty", "dataset.sets",
                     fmt::format("set {} of the mixture is empty; remove it, or name its files", k + 1));
    require_same(sets_.front()->fields(), sets_[k]->fields(), k + 1);
    weights.push_back(params_.sets[k].weight);
    sizes.push_back(sets_[k]->size());
  }
  const auto counts = counts_of_mixture(weights, sizes, params_.samples);
  first_.assign(1, 0);
  std::string parts;
  for (std::size_t k = 0; k < sets_.size(); ++k) {
    first_.push_back(first_.back() + counts[k]);
    parts += fmt::format("{}{} of {} ({:.3g} passes)", k ? ", " : "", counts[k], params_.sets[k].dataset.type,
                         static_cast<double>(counts[k]) / static_cast<double>(sizes[k]));
  }
  context.log.info(fmt::format("mixture of {} samples: {}", first_.back(), parts));
}

/// Fields of the first set; -1 for an extent that differs in other sets.
std::vector<FieldInfo> MixtureSet::fields() const {
  auto out = sets_.front()->fields();
  for (const auto& set : sets_) {
    const auto others = set->fields();
    for (auto& field : out) {
      const auto found =
          std::find_if(others.begin(), others.end(), [&](const FieldInfo& info) { return info.name == field.name; });
      for (std::size_t k = 0; found != others.end() && k < std::min(field.shape.size(), found->shape.size()); ++k)
        if (field.shape[k] != found->shape[k]) field.shape[k] = -1;
    }
  }
  return out;
}

std::size_t MixtureSet::set_of(std::int64_t id) const {
  return static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), id) - first_.begin()) - 1;
}

std::vector<SamplePtr> MixtureSet::read(std::span<const std::int64_t> ids) {
  std::vector<SamplePtr> out(ids.size());
  for (std::size_t at = 0; at < ids.size();) {
    // A run of indices of one set within one pass over it, ascending as readers expect.
    const std::size_t k = set_of(ids[at]), begin = at;
    const std::int64_t size = sets_[k]->size(), pass = (ids[at] - first_[k]) / size;
    std::vector<std::int64_t> own;
    while (at < ids.size() && set_of(ids[at]) == k && (ids[at] - first_[k]) / size == pass)
      own.push_back((ids[at++] - first_[k]) % size);
    const auto samples = sets_[k]->read(own);
    for (std::size_t j = 0; j < samples.size(); ++j) {
      auto copy = std::make_shared<Sample>(*samples[j]);
      copy->id = ids[begin + j];
      out[begin + j] = std::move(copy);
    }
  }
  return out;
}

std::pair<std::int64_t, std::int64_t> MixtureSet::chunk_of(std::int64_t id) const {
  const std::size_t k = set_of(id);
  const std::int64_t size = sets_[k]->size(), own = (id - first_[k]) % size;
  const auto [first, last] = sets_[k]->chunk_of(own);
  return {id - own + first, std::min(id - own + last, first_[k + 1])};
}

std::int64_t MixtureSet::first_copy(std::int64_t id) const {
  const std::size_t k = set_of(id);
  return first_[k] + (id - first_[k]) % sets_[k]->size();
}

std::int64_t MixtureSet::next_copy(std::int64_t id) const {
  const std::size_t k = set_of(id);
  const std::int64_t next = id + sets_[k]->size();
  return next < first_[k + 1] ? next : -1;
}

SamplePtr MixtureSet::copy_of(const SamplePtr& sample, std::int64_t id) const {
  if (sample->id == id) return sample;
  auto copy = std::make_shared<Sample>(*sample);
  copy->id = id;
  return copy;
}

Dataset::Origin MixtureSet::origin() const {
  const auto any = [&](Origin origin) {
    return std::any_of(sets_.begin(), sets_.end(), [&](const auto& set) { return set->origin() == origin; });
  };
  return any(Origin::files)     ? Origin::files
         : any(Origin::unknown) ? Origin::unknown
         : any(Origin::memory)  ? Origin::memory
                                : Origin::computed;
}

bool MixtureSet::plain() const {
  const auto info = fields();
  const bool fixed = std::all_of(info.begin(), info.end(), [](const FieldInfo& field) {
    return std::none_of(field.shape.begin(), field.shape.end(), [](std::int64_t extent) { return extent < 0; });
  });
  return fixed && std::all_of(sets_.begin(), sets_.end(), [](const auto& set) { return set->plain(); });
}

std::int64_t MixtureSet::most_packed_bytes() const {
  std::int64_t most = 0;
  for (const auto& set : sets_) {
    const std::int64_t bytes = set->most_packed_bytes();
    if (bytes == 0) return 0;
    most = std::max(most, bytes);
  }
  return most;
}

std::int64_t MixtureSet::bytes_read() const {
  return std::accumulate(sets_.begin(), sets_.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& set) { return sum + set->bytes_read(); });
}

std::vector<Citation> MixtureSet::citations() const {
  std::vector<Citation> out;
  for (const auto& set : sets_)
    for (auto& work : set->citations()) out.push_back(std::move(work));
  return out;
}

std::vector<Condition> MixtureSet::conditions() const {
  auto out = conditions_of(*sets_.front());
  for (const auto& set : sets_) out = of_both(out, conditions_of(*set));
  return out;
}

bool MixtureSet::repeats() const {
  for (std::size_t k = 0; k < sets_.size(); ++k)
    if (first_[k + 1] - first_[k] > sets_[k]->size()) return true;
  return false;
}

}  // namespace cambium::train
