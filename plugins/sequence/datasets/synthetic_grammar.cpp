#include "plugins/sequence/datasets/synthetic_grammar.hpp"

#include <fmt/format.h>

#include <numbers>

#include "core/io/hdf5/h5.hpp"
#include "core/parallel/memory.hpp"

namespace cambium::sequence {

void SyntheticGrammar::Params::describe(deck::Describe<Params>& d) {
  d("samples", &Params::samples, "number of texts").at_least(1);
  d("length", &Params::length, "bytes of a text; a model predicts all but the first").at_least(2).def(65);
  d("first_index", &Params::first,
    "index of the first text: sets of one seed with different indices share the language and no text")
      .formerly("first")
      .at_least(0)
      .def(0);
  d("seed", &Params::seed, "seed of the language and its texts").at_least(0).def(1);
  d("classes", &Params::classes, "classes of words").range(3, 64).def(8);
  d("words", &Params::words, "words of each class").range(1, 256).def(16);
  d("depth", &Params::depth, "brackets that may be open at a time").range(0, 16).def(2);
}

static Grammar::Params language(const SyntheticGrammar::Params& p) {
  Grammar::Params out;
  out.classes = p.classes;
  out.words = p.words;
  out.depth = p.depth;
  out.seed = static_cast<std::uint64_t>(p.seed);
  return out;
}

SyntheticGrammar::SyntheticGrammar(const Params& params, Context& context)
    : params_(params), grammar_(language(params)) {
  require_memory(5.0 * static_cast<double>(params.length), fmt::format("a text of {} bytes", params.length),
                 "give a smaller 'length'", context);
}

void SyntheticGrammar::open(Context& context) {
  const double floor = grammar_.entropy(params_.length);
  context.log.info(
      fmt::format("synthetic_grammar: {} words, texts of {} bytes; entropy {:.5f} nats per byte ({:.5f} bits): no "
                  "model does better",
                  grammar_.words().size(), params_.length, floor, floor / std::numbers::ln2));
}

std::vector<train::FieldInfo> SyntheticGrammar::fields() const {
  return {{"text", "", {params_.length}, DType::u8}, {"surprise", "", {params_.length - 1}, DType::f32}};
}

train::SamplePtr SyntheticGrammar::make(std::int64_t id) const {
  auto text =
      std::make_shared<Grammar::Text>(grammar_.text(static_cast<std::uint64_t>(params_.first + id), params_.length));
  auto sample = std::make_shared<train::Sample>();
  sample->id = id;
  sample->fields["text"] = io::tensor_of(text->bytes);
  sample->fields["surprise"] = io::tensor_of(std::span<const float>(text->surprise).subspan(1));
  sample->bytes = 5 * params_.length;
  sample->storage = text;
  return sample;
}

std::vector<train::SamplePtr> SyntheticGrammar::read(std::span<const std::int64_t> ids) {
  std::vector<train::SamplePtr> out;
  for (auto id : ids) out.push_back(make(id));
  return out;
}

}  // namespace cambium::sequence
