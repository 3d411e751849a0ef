#include "plugins/sequence/datasets/associative_recall.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "core/io/hdf5/h5.hpp"
#include "core/parallel/memory.hpp"
#include "core/parallel/random.hpp"

namespace cambium::sequence {

void AssociativeRecall::Params::describe(deck::Describe<Params>& d) {
  d("samples", &Params::samples, "number of texts").at_least(1);
  d("length", &Params::length, "bytes of a text").at_least(3).def(64);
  d("pairs", &Params::pairs, "number of key-value pairs, one byte each, at random positions before the queries")
      .at_least(1)
      .def(8);
  d("queries", &Params::queries, "number of queried keys at the end, each once and followed by its answer")
      .at_least(1)
      .def(8);
  d("keys", &Params::keys, "different keys").at_least(1).def(16);
  d("values", &Params::values, "different values").at_least(2).def(8);
  d("first_index", &Params::first, "index of the first text: sets of one seed with different indices share no text")
      .formerly("first")
      .at_least(0)
      .def(0);
  d("seed", &Params::seed, "seed of the texts").at_least(0).def(1);
  d.check([](const Params& p) -> std::string {
    if (p.queries > p.pairs)
      return fmt::format("{} queries are more than the {} pairs; lower queries or raise pairs", p.queries, p.pairs);
    if (p.pairs > p.keys)
      return fmt::format("{} pairs need as many different keys, but keys is {}; lower pairs or raise keys", p.pairs,
                         p.keys);
    const auto bytes = 1 + std::int64_t{p.keys} + p.values + std::int64_t{p.keys} * p.values;
    if (bytes > 256)
      return fmt::format("{} keys and {} values make {} different bytes, more than 256; lower keys or values", p.keys,
                         p.values, bytes);
    const auto taken = std::int64_t{p.pairs} + 2 * p.queries;
    if (taken > p.length)
      return fmt::format("{} pairs and {} queries take {} bytes, but length is {}; raise length", p.pairs, p.queries,
                         taken, p.length);
    return {};
  });
}

AssociativeRecall::AssociativeRecall(const Params& params, Context& context) : params_(params) {
  require_memory(6.0 * static_cast<double>(params.length), fmt::format("a text of {} bytes", params.length),
                 "give a smaller 'length'", context);
}

void AssociativeRecall::open(Context& context) {
  context.log.info(
      fmt::format("recall: texts of {} bytes with {} pairs and {} queries; looking a key up answers all of them, "
                  "guessing one in {}",
                  params_.length, params_.pairs, params_.queries, params_.values));
}

std::vector<train::FieldInfo> AssociativeRecall::fields() const {
  return {{"text", "", {params_.length}, DType::u8},
          {"answer", "", {params_.length - 1}, DType::u8},
          {"surprise", "", {params_.length - 1}, DType::f32}};
}

namespace {

struct Text {
  std::vector<std::uint8_t> bytes, answer;
  std::vector<float> surprise;
  void add(int byte, double chance, bool is_answer = false) {
    bytes.push_back(static_cast<std::uint8_t>(byte));
    answer.push_back(is_answer);
    surprise.push_back(static_cast<float>(-std::log(chance)));
  }
};

/// Draws a sequence of random integers below given limits.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t id) : seed_(seed), id_(id) {}
  int below(int limit) {
    const Random4 random(seed_, Stream::made_samples, id_, turn_++);
    return static_cast<int>(random.uniform(0) * limit);
  }

 private:
  std::uint64_t seed_, id_, turn_ = 0;
};

/// `count` distinct integers below `limit`, in random order.
std::vector<int> different(Draws& draws, int count, int limit) {
  std::vector<int> all(limit);
  std::iota(all.begin(), all.end(), 0);
  for (int k = 0; k < count; ++k) std::swap(all[k], all[k + draws.below(limit - k)]);
  all.resize(count);
  return all;
}

Text text_of(const AssociativeRecall::Params& p, std::uint64_t id) {
  Draws draws(static_cast<std::uint64_t>(p.seed), id);
  Text out;
  const auto keys = different(draws, p.pairs, p.keys), asked = different(draws, p.queries, p.pairs);
  std::vector<int> values;
  for (int k = 0; k < p.pairs; ++k) values.push_back(draws.below(p.values));
  const int value_bytes = 1 + p.keys, pair_bytes = value_bytes + p.values;
  int placed = 0;
  for (auto left = static_cast<int>(p.length) - 2 * p.queries; left > 0; --left) {
    const int more = p.pairs - placed;
    const double chance = static_cast<double>(more) / left;
    if (draws.below(left) < more) {
      const auto k = static_cast<std::size_t>(placed);
      out.add(pair_bytes + keys[k] * p.values + values[k], chance / ((p.keys - placed) * p.values));
      ++placed;
    } else {
      out.add(0, 1.0 - chance);
    }
  }
  for (int k = 0; k < p.queries; ++k) {
    const auto pair = static_cast<std::size_t>(asked[k]);
    out.add(1 + keys[pair], 1.0 / (p.pairs - k));
    out.add(value_bytes + values[pair], 1.0, true);
  }
  return out;
}

}  // namespace

train::SamplePtr AssociativeRecall::make(std::int64_t id) const {
  auto text = std::make_shared<Text>(text_of(params_, static_cast<std::uint64_t>(params_.first + id)));
  auto sample = std::make_shared<train::Sample>();
  sample->id = id;
  sample->fields["text"] = io::tensor_of(text->bytes);
  sample->fields["answer"] = io::tensor_of(std::span<const std::uint8_t>(text->answer).subspan(1));
  sample->fields["surprise"] = io::tensor_of(std::span<const float>(text->surprise).subspan(1));
  sample->bytes = 6 * params_.length;
  sample->storage = text;
  return sample;
}

std::vector<train::SamplePtr> AssociativeRecall::read(std::span<const std::int64_t> ids) {
  std::vector<train::SamplePtr> out;
  for (auto id : ids) out.push_back(make(id));
  return out;
}

}  // namespace cambium::sequence
