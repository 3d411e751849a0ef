// Registers all types of this plugin that a deck can name.
#include "core/plugin/registry.hpp"
#include "plugins/sequence/datasets/associative_recall.hpp"
#include "plugins/sequence/datasets/synthetic_grammar.hpp"
#include "plugins/sequence/networks/transformer.hpp"

namespace cambium::sequence {

void register_types(Registry& registry);

void register_types(Registry& registry) {
  registry.add<Transformer>("transformer", "causal transformer over bytes")
      .synonyms({"gpt", "llm", "attention", "language_model", "bitnet"});
  registry.add<SyntheticGrammar>("synthetic_grammar", "texts of a synthetic language whose entropy is known")
      .synonyms({"text", "language"});
  registry.add<AssociativeRecall>("associative_recall", "texts with key-value pairs whose values are queried far later")
      .synonyms({"mqar", "induction", "lookup"});
  registry.renamed<train::Dataset>("recall", "associative_recall");
  registry.renamed<train::Dataset>("grammar", "synthetic_grammar");
}

}  // namespace cambium::sequence
