#include "plugins/relate/networks/choice_vectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "plugins/relate/datasets/streams.hpp"

namespace cambium::relate {

void ChoiceRows::fit(const ChoiceTable& table) {
  learned_ = hash_of(table.training);
  users_ = table.users;
  items_ = table.items;
  tags_ = table.tags_of.empty() ? 0 : table.tags;
  std::vector<bool> seen(items_);
  for (const auto& list : table.training)
    for (const auto item : list) seen[item] = true;
  among_.clear();
  for (std::int32_t i = 0; i < items_; ++i)
    if (seen[i]) among_.push_back(i);
}

std::vector<train::TableInfo> ChoiceRows::tables(double reach) const {
  std::vector<train::TableInfo> out{{"user", users_, width_, reach}, {"item", items_, width_, reach}};
  if (has_tags()) out.push_back({"tags", tags_, width_, reach});
  return out;
}

void ChoiceRows::draw(std::int64_t count, std::uint64_t seed, std::uint64_t step) {
  drawn_.clear();
  seed_ = seed;
  step_ = step;
  for (std::int64_t k = 0; k < count && !among_.empty(); ++k) {
    const Random4 random(seed, step_items_stream, static_cast<std::uint64_t>(k / 4), step);
    const double at = random.uniform(static_cast<int>(k % 4)) * static_cast<double>(among_.size());
    drawn_.push_back(among_[at]);
  }
}

const RecordSet& ChoiceRows::records_of(std::span<const train::SamplePtr> samples) const {
  const auto& records = record_set_of(*samples.front(), "cosine_factorization");
  if (!records.choices || records.choices->users != users_ || records.choices->items != items_)
    throw InputError(fmt::format(
        "{}: this cosine_factorization has {} users and {} items; take the interactions that it was trained on",
        records.source, users_, items_));
  return records;
}

/// The other items of a sample's user.
std::span<const std::int32_t> ChoiceRows::history_of(const RecordSet& records, std::int64_t sample) const {
  return records.choices->training[records.bag_of(sample, 0)[0]];
}

std::vector<train::Bags> ChoiceRows::bags(std::span<const train::SamplePtr> samples) const {
  std::vector<train::Bags> out(has_tags() ? 3 : 2);
  if (samples.empty()) return out;
  const auto& records = records_of(samples);
  for (const auto& sample : samples) {
    out[0].add(records.bag_of(sample->id, 0));
    out[1].add(records.bag_of(sample->id, 1));
    if (has_tags()) out[2].add(records.bag_of(sample->id, 2));
  }
  for (const auto& item : drawn_) {
    out[1].add(std::span(&item, 1));
    if (has_tags()) out[2].add(records.choices->tags_of[item]);
  }
  if (history_ == 0.0) return out;
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

namespace {

/// Adds `factor` times `count` rows of a tensor, from row `first` on, to `to`, or the reverse.
template <class T>
void add_from(const TensorRef& rows, std::int64_t first, std::int64_t count, T factor, std::vector<T>& to) {
  const std::int64_t width = rows.shape[1];
  to.resize(count * width);
  for (std::int64_t r = 0; r < count; ++r) {
    const T* from = static_cast<const T*>(rows.data) + (first + r) * rows.stride[0];
    for (std::int64_t k = 0; k < width; ++k) to[r * width + k] += factor * from[k];
  }
}
template <class T>
void add_to(const std::vector<T>& from, T factor, const TensorRef& rows, std::int64_t first) {
  const std::int64_t width = rows.shape[1], count = std::ssize(from) / width;
  for (std::int64_t r = 0; r < count; ++r) {
    T* to = static_cast<T*>(rows.data) + (first + r) * rows.stride[0];
    for (std::int64_t k = 0; k < width; ++k) to[k] += factor * from[r * width + k];
  }
}

/// Each row times its own factor.
template <class T>
void scale_rows(std::vector<T>& rows, std::int64_t width, const std::vector<T>& by) {
  for (std::size_t k = 0; k < rows.size(); ++k) rows[k] *= by[k / static_cast<std::size_t>(width)];
}

}  // namespace

/// Factor of the sum over the other items in their mean, for each sample; 0 if there are none.
template <class T>
std::vector<T> ChoiceRows::history_shares(std::span<const train::SamplePtr> samples) const {
  const auto& records = records_of(samples);
  std::vector<T> out;
  for (const auto& sample : samples) {
    const auto list = history_of(records, sample->id);
    const bool holds = std::binary_search(list.begin(), list.end(), records.bag_of(sample->id, 1)[0]);
    const std::int64_t others = std::ssize(list) - (holds ? 1 : 0);
    out.push_back(others > 0 ? static_cast<T>(history_ / static_cast<double>(others)) : T(0));
  }
  return out;
}

template <class T>
ChoiceVectors<T> ChoiceRows::vectors(std::span<const train::SamplePtr> samples, train::TableRows& rows) const {
  const auto count = std::ssize(samples), drawn = std::ssize(drawn_);
  ChoiceVectors<T> out;
  const TensorRef users = rows.pooled(0), items = rows.pooled(1);
  add_from(users, 0, count, static_cast<T>(1.0 - history_), out.users);
  add_from(items, 0, count, T(1), out.chosen);
  add_from(items, count, drawn, T(1), out.drawn);
  if (has_tags()) {
    const TensorRef tags = rows.pooled(2);
    add_from(tags, 0, count, T(1), out.chosen);
    add_from(tags, count, drawn, T(1), out.drawn);
  }
  if (history_ > 0.0) {
    std::vector<T> sums;
    add_from(items, count + drawn, count, T(1), sums);
    scale_rows(sums, width_, history_shares<T>(samples));
    for (std::size_t k = 0; k < sums.size(); ++k) out.users[k] += sums[k];
  }
  return out;
}

template <class T>
void ChoiceRows::add_rows(std::span<const train::SamplePtr> samples, ChoiceVectors<T> by,
                          train::TableRows& rows) const {
  const auto count = std::ssize(samples), drawn = std::ssize(drawn_);
  const TensorRef users = rows.gradient(0), items = rows.gradient(1);
  add_to(by.users, static_cast<T>(1.0 - history_), users, 0);
  add_to(by.chosen, T(1), items, 0);
  add_to(by.drawn, T(1), items, count);
  if (has_tags()) {
    const TensorRef tags = rows.gradient(2);
    add_to(by.chosen, T(1), tags, 0);
    add_to(by.drawn, T(1), tags, count);
  }
  if (history_ == 0.0) return;
  scale_rows(by.users, width_, history_shares<T>(samples));
  add_to(by.users, T(1), items, count + drawn);
}

/// Adds the negatives not selected for a sample (R. W. Floyd's algorithm for uniformly random subsets).
void ChoiceRows::leave_unpicked_out(std::int64_t sample, std::vector<int>& out) const {
  const std::int64_t drawn = std::ssize(drawn_);
  if (each_ == 0 || each_ >= drawn) return;
  std::vector<bool> stays(drawn_.size());
  for (std::int64_t k = 0, last = drawn - each_; last < drawn; ++k, ++last) {
    const Random4 random(seed_, picked_items_stream, static_cast<std::uint64_t>(sample << 20 | k / 4), step_);
    const auto one = static_cast<std::size_t>(random.uniform(static_cast<int>(k % 4)) * static_cast<double>(last + 1));
    stays[stays[one] ? static_cast<std::size_t>(last) : one] = true;
  }
  for (const int known : out) stays[known] = true;  // is already excluded
  for (int j = 0; j < drawn; ++j)
    if (!stays[j]) out.push_back(j);
}

std::vector<std::vector<int>> ChoiceRows::left_out(std::span<const train::SamplePtr> samples) const {
  const auto& records = records_of(samples);
  std::vector<int> first(items_, -1), next(drawn_.size());
  for (std::size_t j = 0; j < drawn_.size(); ++j) {
    next[j] = first[drawn_[j]];
    first[drawn_[j]] = static_cast<int>(j);
  }
  std::vector<std::vector<int>> out;
  for (const auto& sample : samples) {
    if (records.answers[sample->id] != 1.0)
      throw InputError(fmt::format(
          "{}: cosine_factorization samples negatives itself; give the data set num_negatives: 0", records.source));
    auto& here = out.emplace_back();
    const auto add = [&](std::int32_t item) {
      for (int j = first[item]; j >= 0; j = next[j]) here.push_back(j);
    };
    const std::int32_t own = records.bag_of(sample->id, 1)[0];
    const auto list = history_of(records, sample->id);
    for (const auto item : list) add(item);
    if (!std::binary_search(list.begin(), list.end(), own)) add(own);
    leave_unpicked_out(sample->id, here);
  }
  return out;
}

template ChoiceVectors<double> ChoiceRows::vectors<double>(std::span<const train::SamplePtr>, train::TableRows&) const;
template ChoiceVectors<float> ChoiceRows::vectors<float>(std::span<const train::SamplePtr>, train::TableRows&) const;
template void ChoiceRows::add_rows<double>(std::span<const train::SamplePtr>, ChoiceVectors<double>,
                                           train::TableRows&) const;
template void ChoiceRows::add_rows<float>(std::span<const train::SamplePtr>, ChoiceVectors<float>,
                                          train::TableRows&) const;

std::string ChoiceRows::state() const {
  nlohmann::json left_out = nlohmann::json::array();
  for (std::int32_t i = 0, at = 0; i < items_; ++i)
    if (at < std::ssize(among_) && among_[at] == i)
      ++at;
    else
      left_out.push_back(i);
  nlohmann::json out{{"users", users_}, {"items", items_}, {"tags", tags_}, {"never_chosen", left_out}};
  if (learned_ != 0) out["learned"] = learned_;
  return out.dump();
}

void ChoiceRows::restore(const std::string& state) {
  constexpr std::int64_t most = std::int64_t{1} << 31;
  const auto json = nlohmann::json::parse(state);
  users_ = json.at("users").get<std::int64_t>();
  items_ = json.at("items").get<std::int64_t>();
  tags_ = json.at("tags").get<std::int64_t>();
  learned_ = json.value("learned", std::uint64_t{0});
  if (users_ < 1 || users_ >= most || items_ < 1 || items_ >= most || tags_ < 0 || tags_ >= most)
    throw InputError(
        "the state of this cosine_factorization holds invalid sizes of tables; its file is damaged or was changed");
  const auto left_out = json.at("never_chosen").get<std::vector<std::int32_t>>();
  among_.clear();
  for (std::int32_t i = 0; i < items_; ++i)
    if (!std::binary_search(left_out.begin(), left_out.end(), i)) among_.push_back(i);
}

}  // namespace cambium::relate
