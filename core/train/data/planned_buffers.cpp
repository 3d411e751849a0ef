#include "core/train/data/planned_buffers.hpp"

namespace cambium::train {

PlannedBuffers::PlannedBuffers(std::int64_t samples, std::int64_t buffers, std::int64_t held)
    : table_(samples, held), heaps_(static_cast<std::size_t>(buffers)) {}

int PlannedBuffers::holder_of(std::int64_t id) const {
  const auto* entry = table_.find(id);
  return entry ? entry->holder : -1;
}

void PlannedBuffers::set(Heap& heap, std::size_t place, Node node) {
  heap[place] = node;
  table_.find(node.id)->place = static_cast<std::uint32_t>(place);
}

void PlannedBuffers::raise(Heap& heap, std::size_t place) {
  const Node node = heap[place];
  for (; place > 0 && heap[(place - 1) / 2] < node; place = (place - 1) / 2) set(heap, place, heap[(place - 1) / 2]);
  set(heap, place, node);
}

void PlannedBuffers::lower(Heap& heap, std::size_t place) {
  const Node node = heap[place];
  for (std::size_t child = 2 * place + 1; child < heap.size(); child = 2 * place + 1) {
    if (child + 1 < heap.size() && heap[child] < heap[child + 1]) ++child;
    if (heap[child] < node) break;
    set(heap, place, heap[child]);
    place = child;
  }
  set(heap, place, node);
}

void PlannedBuffers::put(int buffer, std::int64_t id, Key key) {
  Heap& heap = heaps_[buffer];
  if (const auto* entry = table_.find(id)) {
    const std::size_t place = entry->place;
    heap[place].key = key;
    raise(heap, place);
    lower(heap, table_.find(id)->place);
    return;
  }
  // Growing by an eighth: doubling would waste up to the size of all buffers.
  if (heap.size() == heap.capacity()) heap.reserve(heap.size() + heap.size() / 8 + 4);
  table_.insert(id, {buffer, static_cast<std::uint32_t>(heap.size())});
  heap.push_back({key, id});
  raise(heap, heap.size() - 1);
}

void PlannedBuffers::remove(int buffer, std::size_t place) {
  Heap& heap = heaps_[buffer];
  table_.erase(heap[place].id);
  const Node last = heap.back();
  heap.pop_back();
  if (place == heap.size()) return;
  set(heap, place, last);
  raise(heap, place);
  lower(heap, table_.find(last.id)->place);
}

void PlannedBuffers::erase(std::int64_t id) {
  const auto entry = *table_.find(id);
  remove(entry.holder, entry.place);
}

std::int64_t PlannedBuffers::evict(int buffer) {
  const std::int64_t id = heaps_[buffer].front().id;
  remove(buffer, 0);
  return id;
}

std::int64_t PlannedBuffers::bytes() const {
  std::size_t nodes = 0;
  for (const auto& heap : heaps_) nodes += heap.capacity();
  return table_.bytes() + static_cast<std::int64_t>(heaps_.capacity() * sizeof(Heap) + nodes * sizeof(Node));
}

}  // namespace cambium::train
