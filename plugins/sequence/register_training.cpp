// Registers all types of this plugin that need LibTorch.
#include "core/plugin/registry.hpp"
#include "plugins/sequence/networks/byte_lstm.hpp"

namespace cambium::sequence {

void register_training(Registry& registry);

void register_training(Registry& registry) {
  registry.add<ByteLstm>("byte_lstm", "long short-term memory (LSTM) over bytes, a baseline for transformer (Torch)")
      .synonyms({"char_rnn", "language_lstm"});
}

}  // namespace cambium::sequence
