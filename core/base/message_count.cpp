#include "core/base/message_count.hpp"

namespace cambium {
namespace {

thread_local int own_counts = 0;
thread_local MessageTotals all;

}  // namespace

MessageCount::MessageCount() : start_(all) { ++own_counts; }
MessageCount::~MessageCount() { --own_counts; }

MessageTotals MessageCount::totals() const {
  return {all.messages - start_.messages, all.collectives - start_.collectives, all.sent - start_.sent,
          all.received - start_.received};
}

MessageTotals* counted_messages() { return own_counts > 0 ? &all : nullptr; }

}  // namespace cambium
