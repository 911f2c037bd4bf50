#include "endpoint.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <string>

#include "boundary.hpp"
#include "serdata.hpp"

using comseclab::fail;
using comseclab::cyclonedds::EndpointRequest;
using comseclab::cyclonedds::Listener;
using comseclab::dds::View;

namespace {

// The policies of the DDS specification by their ids, as far as endpoints of ours can disagree on them.
const char* policy_name(uint32_t id) {
  switch (id) {
    case DDS_DURABILITY_QOS_POLICY_ID:
      return "the other end's durability does not fit";
    case DDS_DEADLINE_QOS_POLICY_ID:
      return "the other end's deadline does not fit";
    case DDS_LIVELINESS_QOS_POLICY_ID:
      return "the other end's liveliness does not fit";
    case DDS_RELIABILITY_QOS_POLICY_ID:
      return "the other end's reliability does not fit";
    case DDS_DATA_REPRESENTATION_QOS_POLICY_ID:
      return "the other end's data representation does not fit";
    default:
      return "the other end's QoS does not fit";
  }
}

comseclab_writer& writer(void* context) {
  return *static_cast<comseclab_writer*>(context);
}

comseclab_reader& reader(void* context) {
  return *static_cast<comseclab_reader*>(context);
}

Listener listener(void* context) {
  return {dds_create_listener(context), &dds_delete_listener};
}

void on_publication_matched(dds_entity_t /*entity*/, const dds_publication_matched_status_t status, void* context) {
  writer(context).report(COMSECLAB_MATCHED, status.current_count);
}

void on_offered_incompatible_qos(dds_entity_t /*entity*/, const dds_offered_incompatible_qos_status_t status,
                                 void* context) {
  writer(context).report(COMSECLAB_REJECTED, static_cast<uint64_t>(status.total_count_change),
                         policy_name(status.last_policy_id));
}

void on_subscription_matched(dds_entity_t /*entity*/, const dds_subscription_matched_status_t status, void* context) {
  reader(context).report(COMSECLAB_MATCHED, status.current_count);
}

void on_requested_incompatible_qos(dds_entity_t /*entity*/, const dds_requested_incompatible_qos_status_t status,
                                   void* context) {
  reader(context).report(COMSECLAB_REJECTED, static_cast<uint64_t>(status.total_count_change),
                         policy_name(status.last_policy_id));
}

void on_sample_lost(dds_entity_t /*entity*/, const dds_sample_lost_status_t status, void* context) {
  reader(context).lost += static_cast<uint64_t>(status.total_count_change);
  reader(context).report(COMSECLAB_LOST, static_cast<uint64_t>(status.total_count_change));
}

void on_sample_rejected(dds_entity_t /*entity*/, const dds_sample_rejected_status_t status, void* context) {
  reader(context).rejected += static_cast<uint64_t>(status.total_count_change);
  reader(context).report(COMSECLAB_REJECTED, static_cast<uint64_t>(status.total_count_change),
                         "the reader's history is full");
}

void on_data_available(dds_entity_t /*entity*/, void* context) {
  reader(context).take_all();
}

}  // namespace

bool comseclab_writer::create(const EndpointRequest& request, const ddsi_sertype* of) {
  const Listener events = listener(this);
  dds_lset_publication_matched(events.get(), on_publication_matched);
  dds_lset_offered_incompatible_qos(events.get(), on_offered_incompatible_qos);
  type = of;
  entity = dds_create_writer(request.participant, request.topic, request.qos, events.get());
  return entity > 0;
}

comseclab_status comseclab_writer::publish(const uint8_t* bytes, size_t size, comseclab_error* error) {
  if (size > std::numeric_limits<uint32_t>::max() - comseclab::dds::kMostAdded) {
    return fail(error, "a message may not exceed 4 GiB", COMSECLAB_TOO_LARGE);
  }
  const dds_return_t code = dds_writecdr(entity, comseclab::cyclonedds::make_serdata(type, View{bytes, size}));
  if (code == DDS_RETCODE_OK) {
    ++taken;
    return COMSECLAB_OK;
  }
  if (code == DDS_RETCODE_TIMEOUT) {
    ++timed_out;
    return fail(error,
                "the writer's history is full of samples not acknowledged yet (publish_timeout_ms, history_size)",
                COMSECLAB_AGAIN);
  }
  return fail(error, "Cyclone DDS did not take the sample: " + std::string(dds_strretcode(code)));
}

nlohmann::json comseclab_writer::statistics() const {
  dds_publication_matched_status_t matched{};
  dds_get_publication_matched_status(entity, &matched);
  const bool acknowledged = dds_wait_for_acks(entity, 0) == DDS_RETCODE_OK;
  return {{"matched", matched.current_count},
          {"taken", taken.load()},
          {"timed_out", timed_out.load()},
          {"all_acknowledged", acknowledged}};
}

bool comseclab_reader::create(const EndpointRequest& request) {
  const Listener events = listener(this);
  dds_lset_data_available(events.get(), on_data_available);
  dds_lset_subscription_matched(events.get(), on_subscription_matched);
  dds_lset_requested_incompatible_qos(events.get(), on_requested_incompatible_qos);
  dds_lset_sample_lost(events.get(), on_sample_lost);
  dds_lset_sample_rejected(events.get(), on_sample_rejected);
  entity = dds_create_reader(request.participant, request.topic, request.qos, events.get());
  return entity > 0;
}

// Runs in the thread that received the last fragment: Cyclone DDS delivers synchronously.
void comseclab_reader::take_all() {
  std::array<ddsi_serdata*, 16> samples{};
  std::array<dds_sample_info_t, samples.size()> infos{};
  for (;;) {
    const dds_return_t count = dds_takecdr(entity, samples.data(), samples.size(), infos.data(), DDS_ANY_STATE);
    if (count <= 0) return;
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      if (infos[i].valid_data) {
        const View view = comseclab::cyclonedds::bytes_of(samples[i]);
        if (view.bytes == nullptr) {
          ++malformed;
          report(COMSECLAB_REJECTED, 1, "a sample is shorter than its own header says");
        } else {
          ++delivered;
          const comseclab_sender sender = sender_of(infos[i].publication_handle);
          on_message(message_context, view.bytes, view.size, &sender);
        }
      }
      ddsi_serdata_unref(samples[i]);
    }
  }
}

comseclab_sender comseclab_reader::sender_of(dds_instance_handle_t writer) {
  if (writer == known_writer_) return known_sender_;
  dds_builtintopic_endpoint_t* endpoint = dds_get_matched_publication_data(entity, writer);
  if (endpoint == nullptr) return {};  // it left while its sample was on the way
  static_assert(sizeof known_sender_.bytes == sizeof endpoint->key.v);
  std::memcpy(known_sender_.bytes, endpoint->key.v, sizeof known_sender_.bytes);
  known_writer_ = writer;
  dds_builtintopic_free_endpoint(endpoint);
  return known_sender_;
}

nlohmann::json comseclab_reader::statistics() const {
  dds_subscription_matched_status_t matched{};
  dds_get_subscription_matched_status(entity, &matched);
  return {{"matched", matched.current_count},
          {"delivered", delivered.load()},
          {"lost", lost.load()},
          {"rejected", rejected.load()},
          {"malformed", malformed.load()}};
}
