#include "plugins/relate/networks/cosine_factors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "plugins/relate/networks/in_type.hpp"
#include "plugins/relate/records/streams.hpp"

namespace cambium::relate {

void CosineFactors::Params::describe(deck::Describe<Params>& d) {
  d("width", &Params::width, "numbers of a vector").range(1, 100000).def(64);
  d("reach", &Params::reach, "first numbers of rows are uniform between minus this and this").positive().def(0.1);
  d("drawn", &Params::drawn,
    "items that are drawn for a step, evenly among those that somebody chose; every choice of the step is told from "
    "all of them but those that its user chose")
      .range(1, 1e6)
      .def(1024);
  d("history", &Params::history, "share of the mean of the items that a user chose in his vector; 0: his own row alone")
      .range(0.0, 1.0)
      .def(0.0);
  d("loss", &Params::loss, "what chosen items are told from drawn ones by");
  d("precision", &Params::precision, "of rows and products")
      .options({{"float64", Precision::float64}, {"float32", Precision::float32}})
      .def(Precision::float32);
}

void ContrastLoss::describe(deck::Describe<ContrastLoss>& d) {
  d("type", &ContrastLoss::kind,
    "softmax: the chosen item among the drawn ones; margin: its cosine up, those of drawn ones above a margin down")
      .options({{"softmax", Kind::softmax}, {"margin", Kind::margin}})
      .def(Kind::softmax);
  // Cosines differ by 2 at most: a float holds exp(2 / 0.03).
  d("temperature", &ContrastLoss::temperature, "of softmax: how near cosines compete").range(0.03, 10.0).def(0.1);
  d("margin", &ContrastLoss::margin, "of margin: drawn items below this cosine are let alone")
      .range(-1.0, 1.0)
      .def(0.9);
  d("weight", &ContrastLoss::weight, "of margin: of the mean over the drawn items").positive().def(1.0);
}

/// The items of training, and what it is about. Items that nobody chose are never drawn.
void CosineFactors::fit_statistics(train::Dataset& training, Context&) {
  const std::int64_t first[] = {0};
  const auto samples = training.read(first);
  const auto& records = record_set_of(*samples.front(), "cosine_factors");
  if (!records.choices)
    throw InputError(
        fmt::format("{}: cosine_factors learns what users chose; give a dataset of type choices", records.source));
  const ChoiceTable& table = *records.choices;
  users_ = table.users, items_ = table.items, tags_ = table.tags_of.empty() ? 0 : table.tags;
  std::vector<bool> seen(static_cast<std::size_t>(items_));
  for (const auto& list : table.training)
    for (const auto item : list) seen[static_cast<std::size_t>(item)] = true;
  among_.clear();
  for (std::int32_t i = 0; i < items_; ++i)
    if (seen[static_cast<std::size_t>(i)]) among_.push_back(i);
}

std::vector<train::TableInfo> CosineFactors::tables() const {
  std::vector<train::TableInfo> out{{"user", users_, params_.width, params_.reach},
                                    {"item", items_, params_.width, params_.reach}};
  if (has_tags()) out.push_back({"tags", tags_, params_.width, params_.reach});
  return out;
}

void CosineFactors::draw(std::uint64_t seed, std::uint64_t step) {
  drawn_.clear();
  for (std::int64_t k = 0; k < params_.drawn && !among_.empty(); ++k) {
    const Random4 random(seed, step_items_stream, static_cast<std::uint64_t>(k / 4), step);
    const double at = random.uniform(static_cast<int>(k % 4)) * static_cast<double>(among_.size());
    drawn_.push_back(among_[static_cast<std::size_t>(at)]);
  }
}

void CosineFactors::begin_evaluation(train::Dataset&, std::span<const TensorRef>) {
  constexpr std::uint64_t no_step = std::uint64_t{1} << 62;  // the same items for every validation
  draw(0, no_step);
}

const RecordSet& CosineFactors::records_of(std::span<const train::SamplePtr> samples) const {
  const auto& records = record_set_of(*samples.front(), "cosine_factors");
  if (!records.choices || records.choices->users != users_ || records.choices->items != items_)
    throw InputError(
        fmt::format("{}: this cosine_factors knows {} users and {} items; take the choices that it was "
                    "trained on",
                    records.source, users_, items_));
  return records;
}

/// The other items that the user of a sample chose.
std::span<const std::int32_t> CosineFactors::history_of(const RecordSet& records, std::int64_t sample) const {
  return records.choices->training[static_cast<std::size_t>(records.bag_of(sample, 0)[0])];
}

std::vector<train::Bags> CosineFactors::bags(std::span<const train::SamplePtr> samples) const {
  std::vector<train::Bags> out(tables().size());
  if (samples.empty()) return out;
  const auto& records = records_of(samples);
  for (const auto& sample : samples) {
    out[0].add(records.bag_of(sample->id, 0)), out[1].add(records.bag_of(sample->id, 1));
    if (has_tags()) out[2].add(records.bag_of(sample->id, 2));
  }
  for (const auto& item : drawn_) {
    out[1].add(std::span(&item, 1));
    if (has_tags()) out[2].add(records.choices->tags_of[static_cast<std::size_t>(item)]);
  }
  if (params_.history == 0.0) return out;
  std::vector<std::int32_t> others;
  for (const auto& sample : samples) {
    others.clear();
    const std::int32_t own = records.bag_of(sample->id, 1)[0];
    for (const auto item : history_of(records, sample->id))
      if (item != own) others.push_back(item);
    out[1].add(others);
  }
  return out;
}

template <class T>
struct CosineFactors::Vectors {
  std::vector<T> users, chosen, drawn;
};

namespace {

/// to += factor times `count` rows of a tensor from row `first` on, or the other way.
template <class T>
void add_from(const TensorRef& rows, std::int64_t first, std::int64_t count, T factor, std::vector<T>& to) {
  const std::int64_t width = rows.shape[1];
  to.resize(static_cast<std::size_t>(count * width));
  for (std::int64_t r = 0; r < count; ++r) {
    const T* from = static_cast<const T*>(rows.data) + (first + r) * rows.stride[0];
    for (std::int64_t k = 0; k < width; ++k) to[static_cast<std::size_t>(r * width + k)] += factor * from[k];
  }
}
template <class T>
void add_to(const std::vector<T>& from, T factor, const TensorRef& rows, std::int64_t first) {
  const std::int64_t width = rows.shape[1], count = std::ssize(from) / width;
  for (std::int64_t r = 0; r < count; ++r) {
    T* to = static_cast<T*>(rows.data) + (first + r) * rows.stride[0];
    for (std::int64_t k = 0; k < width; ++k) to[k] += factor * from[static_cast<std::size_t>(r * width + k)];
  }
}

/// Each row times a number of its own.
template <class T>
void scale_rows(std::vector<T>& rows, std::int64_t width, const std::vector<T>& by) {
  for (std::size_t k = 0; k < rows.size(); ++k) rows[k] *= by[k / static_cast<std::size_t>(width)];
}

}  // namespace

/// What a mean over the other choices multiplies their sum by, of each sample; 0 where there are none.
template <class T>
std::vector<T> CosineFactors::history_shares(std::span<const train::SamplePtr> samples) const {
  const auto& records = records_of(samples);
  std::vector<T> out;
  for (const auto& sample : samples) {
    const auto list = history_of(records, sample->id);
    const bool holds = std::binary_search(list.begin(), list.end(), records.bag_of(sample->id, 1)[0]);
    const std::int64_t others = std::ssize(list) - (holds ? 1 : 0);
    out.push_back(others > 0 ? static_cast<T>(params_.history / static_cast<double>(others)) : T(0));
  }
  return out;
}

template <class T>
CosineFactors::Vectors<T> CosineFactors::vectors(std::span<const train::SamplePtr> samples) const {
  const auto count = std::ssize(samples), drawn = std::ssize(drawn_);
  Vectors<T> out;
  const TensorRef users = rows_->pooled(0), items = rows_->pooled(1);
  add_from(users, 0, count, static_cast<T>(1.0 - params_.history), out.users);
  add_from(items, 0, count, T(1), out.chosen), add_from(items, count, drawn, T(1), out.drawn);
  if (has_tags()) {
    const TensorRef tags = rows_->pooled(2);
    add_from(tags, 0, count, T(1), out.chosen), add_from(tags, count, drawn, T(1), out.drawn);
  }
  if (params_.history > 0.0) {
    std::vector<T> sums;
    add_from(items, count + drawn, count, T(1), sums);
    scale_rows(sums, params_.width, history_shares<T>(samples));
    for (std::size_t k = 0; k < sums.size(); ++k) out.users[k] += sums[k];
  }
  return out;
}

template <class T>
void CosineFactors::add_rows(std::span<const train::SamplePtr> samples, Vectors<T> by) const {
  const auto count = std::ssize(samples), drawn = std::ssize(drawn_);
  const TensorRef users = rows_->gradient(0), items = rows_->gradient(1);
  add_to(by.users, static_cast<T>(1.0 - params_.history), users, 0);
  add_to(by.chosen, T(1), items, 0), add_to(by.drawn, T(1), items, count);
  if (has_tags()) {
    const TensorRef tags = rows_->gradient(2);
    add_to(by.chosen, T(1), tags, 0), add_to(by.drawn, T(1), tags, count);
  }
  if (params_.history == 0.0) return;
  scale_rows(by.users, params_.width, history_shares<T>(samples));
  add_to(by.users, T(1), items, count + drawn);
}

/// Of each sample the places in drawn_ of what its user is known to have chosen.
std::vector<std::vector<int>> CosineFactors::known(std::span<const train::SamplePtr> samples) const {
  const auto& records = records_of(samples);
  std::vector<int> first(static_cast<std::size_t>(items_), -1), next(drawn_.size());
  for (std::size_t j = 0; j < drawn_.size(); ++j) {
    next[j] = first[static_cast<std::size_t>(drawn_[j])];
    first[static_cast<std::size_t>(drawn_[j])] = static_cast<int>(j);
  }
  std::vector<std::vector<int>> out;
  for (const auto& sample : samples) {
    if (records.answers[static_cast<std::size_t>(sample->id)] != 1.0)
      throw InputError(
          fmt::format("{}: cosine_factors draws items by itself; give the data set choices others: 0", records.source));
    auto& here = out.emplace_back();
    const auto add = [&](std::int32_t item) {
      for (int j = first[static_cast<std::size_t>(item)]; j >= 0; j = next[static_cast<std::size_t>(j)])
        here.push_back(j);
    };
    const std::int32_t own = records.bag_of(sample->id, 1)[0];
    const auto list = history_of(records, sample->id);
    for (const auto item : list) add(item);
    if (!std::binary_search(list.begin(), list.end(), own)) add(own);
  }
  return out;
}

template <class T>
typename Contrast<T>::Sums CosineFactors::forward(Contrast<T>& contrast, const Vectors<T>& z,
                                                  std::span<const train::SamplePtr> samples) const {
  return contrast.forward({z.users.data(), z.chosen.data(), z.drawn.data()}, static_cast<int>(samples.size()),
                          static_cast<int>(drawn_.size()), known(samples));
}

void CosineFactors::gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef>,
                             std::span<const double> term_weights, std::span<const TensorRef>,
                             std::span<train::TermSum> terms, const train::ReadyCallback&) {
  if (samples.empty()) return;
  in_type(dtype(), [&]<class T>() {
    Contrast<T> contrast(params_.loss, static_cast<int>(params_.width));
    const auto z = vectors<T>(samples);
    terms[0].sum += forward(contrast, z, samples).loss, terms[0].count += static_cast<double>(samples.size());
    Vectors<T> by{std::vector<T>(z.users.size()), std::vector<T>(z.chosen.size()), std::vector<T>(z.drawn.size())};
    contrast.backward(term_weights[0], by.users.data(), by.chosen.data(), by.drawn.data());
    add_rows(samples, std::move(by));
  });
  rows_->ready();
}

void CosineFactors::evaluate(std::span<const train::SamplePtr> samples, std::span<const TensorRef>,
                             std::span<train::TermSum> metrics) {
  if (samples.empty()) return;
  in_type(dtype(), [&]<class T>() {
    Contrast<T> contrast(params_.loss, static_cast<int>(params_.width));
    const auto sums = forward(contrast, vectors<T>(samples), samples);
    metrics[0].sum += sums.loss, metrics[1].sum += sums.wrong;
    for (auto& metric : metrics) metric.count += static_cast<double>(samples.size());
  });
}

std::vector<train::TermInfo> CosineFactors::terms() const {
  return {
      {params_.loss.kind == ContrastLoss::Kind::softmax ? "softmax" : "contrast", "", train::TermInfo::Report::mean}};
}

std::vector<train::TermInfo> CosineFactors::metrics() const {
  return {terms().front(), {"wrong", "", train::TermInfo::Report::mean}};
}

/// Rows of length one, as doubles.
template <class T>
static std::vector<double> normalised(const std::vector<T>& rows, std::int64_t width) {
  std::vector<double> out(rows.begin(), rows.end());
  for (std::size_t r = 0; r < out.size(); r += static_cast<std::size_t>(width)) {
    double square = 0.0;
    for (std::int64_t k = 0; k < width; ++k)
      square += out[r + static_cast<std::size_t>(k)] * out[r + static_cast<std::size_t>(k)];
    for (std::int64_t k = 0; k < width && square > 0.0; ++k) out[r + static_cast<std::size_t>(k)] /= std::sqrt(square);
  }
  return out;
}

std::vector<double> CosineFactors::user_vectors(std::span<const train::SamplePtr> samples) {
  std::vector<double> out;
  in_type(dtype(), [&]<class T>() { out = normalised(vectors<T>(samples).users, params_.width); });
  return out;
}

std::vector<double> CosineFactors::item_vectors(std::span<const train::SamplePtr> samples) {
  std::vector<double> out;
  in_type(dtype(), [&]<class T>() { out = normalised(vectors<T>(samples).chosen, params_.width); });
  return out;
}

void CosineFactors::infer(std::span<const train::SamplePtr> samples, std::span<const TensorRef>,
                          std::span<const TensorRef> outputs) {
  if (samples.empty()) return;
  const auto users = user_vectors(samples), items = item_vectors(samples);
  const auto width = static_cast<std::size_t>(params_.width);
  for (std::size_t s = 0; s < samples.size(); ++s) {
    double cosine = 0.0;
    for (std::size_t k = s * width; k < (s + 1) * width; ++k) cosine += users[k] * items[k];
    static_cast<double*>(outputs[0].data)[static_cast<std::int64_t>(s) * outputs[0].stride[0]] = cosine;
  }
}

std::string CosineFactors::state() const {
  nlohmann::json left_out = nlohmann::json::array();
  for (std::int32_t i = 0, at = 0; i < items_; ++i)
    if (at < std::ssize(among_) && among_[static_cast<std::size_t>(at)] == i)
      ++at;
    else
      left_out.push_back(i);
  return nlohmann::json{{"users", users_}, {"items", items_}, {"tags", tags_}, {"never_chosen", left_out}}.dump();
}

void CosineFactors::restore(const std::string& state) {
  constexpr std::int64_t most = std::int64_t{1} << 31;
  const auto json = nlohmann::json::parse(state);
  users_ = json.at("users").get<std::int64_t>(), items_ = json.at("items").get<std::int64_t>();
  tags_ = json.at("tags").get<std::int64_t>();
  if (users_ < 1 || users_ >= most || items_ < 1 || items_ >= most || tags_ < 0 || tags_ >= most)
    throw InputError(
        "the state of this cosine_factors says sizes of tables that cannot be; its file is damaged or was "
        "changed");
  const auto left_out = json.at("never_chosen").get<std::vector<std::int32_t>>();
  among_.clear();
  for (std::int32_t i = 0; i < items_; ++i)
    if (!std::binary_search(left_out.begin(), left_out.end(), i)) among_.push_back(i);
}

std::vector<Citation> CosineFactors::citations() const {
  if (params_.loss.kind == ContrastLoss::Kind::softmax && params_.history == 0.0) return {};
  return {{"mao2021",
           "@inproceedings{mao2021,\n  author = {Mao, Kelong and Zhu, Jieming and Wang, Jinpeng and Dai, Quanyu and "
           "Dong, Zhenhua and Xiao, Xi and He, Xiuqiang},\n  title = {SimpleX: A Simple and Strong Baseline for "
           "Collaborative Filtering},\n  booktitle = {Proceedings of the 30th ACM International Conference on "
           "Information and Knowledge Management},\n  year = {2021}\n}\n"}};
}

}  // namespace cambium::relate
