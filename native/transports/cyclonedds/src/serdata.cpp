#include "serdata.hpp"

#include <dds/ddsi/q_radmin.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace comseclab::cyclonedds {
namespace {

struct Sertype : ddsi_sertype {
  dds::Form form;
};

// Keeps large buffers for reuse: fresh memory costs a page fault for every 4 KiB, as much as copying into it.
class Buffers {
 public:
  struct Buffer {
    uint8_t* bytes;
    size_t capacity;
  };

  Buffer take(size_t size) {
    if (size >= kLarge) {
      const std::lock_guard lock(mutex_);
      const auto fits = [size](const Buffer& one) { return one.capacity >= size && one.capacity / 2 <= size; };
      if (const auto found = std::find_if(kept_.begin(), kept_.end(), fits); found != kept_.end()) {
        const Buffer buffer = *found;
        kept_.erase(found);
        return buffer;
      }
    }
    auto* bytes = static_cast<uint8_t*>(std::malloc(size));
    if (bytes == nullptr) throw std::bad_alloc();
    return {bytes, size};
  }

  void give(Buffer buffer) {
    if (buffer.capacity >= kLarge) {
      const std::lock_guard lock(mutex_);
      kept_.push_back(buffer);
      if (kept_.size() <= kMostKept) return;
      buffer = kept_.front();
      kept_.erase(kept_.begin());
    }
    std::free(buffer.bytes);
  }

  static Buffers& all() {
    static auto* buffers = new Buffers;  // outlives the threads of Cyclone DDS
    return *buffers;
  }

 private:
  static constexpr size_t kLarge = 128 << 10;  // malloc maps larger ones anew each time
  static constexpr size_t kMostKept = 8;

  Buffers() { kept_.reserve(kMostKept + 1); }

  std::mutex mutex_;
  std::vector<Buffer> kept_;
};

struct Serdata : ddsi_serdata {
  // RTPS pads to a multiple of four, and reads the bytes that takes.
  Serdata(const ddsi_sertype* of, ddsi_serdata_kind kind, uint32_t bytes)
      : size(bytes), buffer(Buffers::all().take(bytes + 3U)) {
    ddsi_serdata_init(this, of, kind);
  }
  ~Serdata() { Buffers::all().give(buffer); }
  Serdata(const Serdata&) = delete;
  Serdata& operator=(const Serdata&) = delete;

  uint32_t size;
  Buffers::Buffer buffer;
};

const Serdata& serdata(const ddsi_serdata* data) {
  return *static_cast<const Serdata*>(data);
}

// A topic without a key has one instance: every key equals every other.
bool equal_keys(const ddsi_serdata* /*a*/, const ddsi_serdata* /*b*/) {
  return true;
}

uint32_t size_of(const ddsi_serdata* data) {
  return serdata(data).size;
}

// nullptr tells Cyclone DDS that a sample cannot be taken; no exception may pass through it.
ddsi_serdata* from_fragments(const ddsi_sertype* type, ddsi_serdata_kind kind, const nn_rdata* fragment,
                             size_t size) try {
  auto data = std::make_unique<Serdata>(type, kind, static_cast<uint32_t>(size));
  uint32_t done = 0;
  for (; fragment != nullptr; fragment = fragment->nextfrag) {
    if (fragment->maxp1 <= done) continue;  // fragments may overlap
    const uint8_t* bytes = NN_RMSG_PAYLOADOFF(fragment->rmsg, NN_RDATA_PAYLOAD_OFF(fragment));
    std::memcpy(data->buffer.bytes + done, bytes + (done - fragment->min), fragment->maxp1 - done);
    done = fragment->maxp1;
  }
  return data.release();
} catch (const std::bad_alloc&) {
  return nullptr;
}

ddsi_serdata* from_vector(const ddsi_sertype* type, ddsi_serdata_kind kind, ddsrt_msg_iovlen_t parts,
                          const ddsrt_iovec_t* vector, size_t size) try {
  auto data = std::make_unique<Serdata>(type, kind, static_cast<uint32_t>(size));
  uint8_t* target = data->buffer.bytes;
  for (ddsrt_msg_iovlen_t i = 0; i < parts; ++i) {
    std::memcpy(target, vector[i].iov_base, vector[i].iov_len);
    target += vector[i].iov_len;
  }
  return data.release();
} catch (const std::bad_alloc&) {
  return nullptr;
}

ddsi_serdata* from_keyhash(const ddsi_sertype* type, const ddsi_keyhash* /*hash*/) try {
  return new Serdata(type, SDK_KEY, 0);
} catch (const std::bad_alloc&) {
  return nullptr;
}

// Samples are written and taken serialised, never as objects of a programming language.
ddsi_serdata* from_sample(const ddsi_sertype* type, ddsi_serdata_kind /*kind*/, const void* /*sample*/) {
  return from_keyhash(type, nullptr);
}
bool to_sample(const ddsi_serdata* /*data*/, void* /*sample*/, void** /*buffer*/, void* /*limit*/) {
  return false;
}
bool untyped_to_sample(const ddsi_sertype* /*type*/, const ddsi_serdata* /*data*/, void* /*sample*/, void** /*buffer*/,
                       void* /*limit*/) {
  return false;
}

void to_buffer(const ddsi_serdata* data, size_t offset, size_t size, void* buffer) {
  std::memcpy(buffer, serdata(data).buffer.bytes + offset, size);
}

ddsi_serdata* lend(const ddsi_serdata* data, size_t offset, size_t size, ddsrt_iovec_t* lent) {
  lent->iov_base = serdata(data).buffer.bytes + offset;
  lent->iov_len = size;
  return ddsi_serdata_ref(data);
}

void give_back(ddsi_serdata* data, const ddsrt_iovec_t* /*lent*/) {
  ddsi_serdata_unref(data);
}

ddsi_serdata* to_untyped(const ddsi_serdata* data) {
  auto* untyped = from_keyhash(data->type, nullptr);
  if (untyped != nullptr) untyped->type = nullptr;
  return untyped;
}

void free_serdata(ddsi_serdata* data) {
  delete static_cast<Serdata*>(data);
}

size_t print(const ddsi_sertype* /*type*/, const ddsi_serdata* data, char* text, size_t capacity) {
  return static_cast<size_t>(std::snprintf(text, capacity, "%u bytes", serdata(data).size));
}

void keyhash(const ddsi_serdata* /*data*/, ddsi_keyhash* hash, bool /*force_md5*/) {
  std::memset(hash, 0, sizeof *hash);
}

void free_sertype(ddsi_sertype* type) {
  ddsi_sertype_fini(type);
  delete static_cast<Sertype*>(type);
}

bool equal_types(const ddsi_sertype* a, const ddsi_sertype* b) {
  return static_cast<const Sertype*>(a)->form == static_cast<const Sertype*>(b)->form;
}

uint32_t hash_of_type(const ddsi_sertype* type) {
  return static_cast<uint32_t>(static_cast<const Sertype*>(type)->form);
}

void no_samples(const ddsi_sertype* /*type*/, void* /*samples*/, size_t /*count*/) {}
void no_sample_memory(void** samples, const ddsi_sertype* /*type*/, void* /*old*/, size_t /*old_count*/, size_t count) {
  for (size_t i = 0; i < count; ++i) samples[i] = nullptr;
}
void no_sample_to_free(const ddsi_sertype* /*type*/, void** /*samples*/, size_t /*count*/, dds_free_op_t /*how*/) {}

const ddsi_sertype_ops kSertypeOps = {
    .version = ddsi_sertype_v0,
    .arg = nullptr,
    .free = free_sertype,
    .zero_samples = no_samples,
    .realloc_samples = no_sample_memory,
    .free_samples = no_sample_to_free,
    .equal = equal_types,
    .hash = hash_of_type,
};

const ddsi_serdata_ops kSerdataOps = {
    .eqkey = equal_keys,
    .get_size = size_of,
    .from_ser = from_fragments,
    .from_ser_iov = from_vector,
    .from_keyhash = from_keyhash,
    .from_sample = from_sample,
    .to_ser = to_buffer,
    .to_ser_ref = lend,
    .to_ser_unref = give_back,
    .to_sample = to_sample,
    .to_untyped = to_untyped,
    .untyped_to_sample = untyped_to_sample,
    .free = free_serdata,
    .print = print,
    .get_keyhash = keyhash,
};

}  // namespace

ddsi_sertype* make_sertype(const std::string& name, dds::Form form) {
  auto* type = new Sertype{};
  ddsi_sertype_init_flags(type, name.c_str(), &kSertypeOps, &kSerdataOps, DDSI_SERTYPE_FLAG_TOPICKIND_NO_KEY);
  type->form = form;
  return type;
}

ddsi_serdata* make_serdata(const ddsi_sertype* type, dds::View view) {
  const dds::Form form = static_cast<const Sertype*>(type)->form;
  auto data = std::make_unique<Serdata>(type, SDK_DATA, dds::payload_size(form, view.size));
  dds::write_payload(form, view, data->buffer.bytes);
  return data.release();
}

dds::View bytes_of(const ddsi_serdata* sample) {
  const auto& data = serdata(sample);
  return dds::read_payload(static_cast<const Sertype*>(data.type)->form, data.buffer.bytes, data.size);
}

}  // namespace comseclab::cyclonedds
