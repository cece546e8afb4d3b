// Publishes and takes with the real Fast DDS; prints the source timestamps that the reader saw.
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/publisher/qos/DataWriterQos.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/subscriber/qos/DataReaderQos.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

extern "C" void ros_trace_rmw_publish(const void *);
using namespace eprosima::fastdds::dds;
using eprosima::fastrtps::rtps::InstanceHandle_t;
using eprosima::fastrtps::rtps::SerializedPayload_t;

struct Number : TopicDataType {
  Number() { setName("Number"); m_typeSize = 8; }
  bool serialize(void *data, SerializedPayload_t *payload) override {
    std::memcpy(payload->data, data, 4);
    payload->length = 4;
    return true;
  }
  bool deserialize(SerializedPayload_t *payload, void *data) override { std::memcpy(data, payload->data, 4); return true; }
  std::function<uint32_t()> getSerializedSizeProvider(void *) override { return [] { return 8u; }; }
  void *createData() override { return new int; }
  void deleteData(void *data) override { delete static_cast<int *>(data); }
  bool getKey(void *, InstanceHandle_t *, bool) override { return false; }
};

int main() {
  auto *participant = DomainParticipantFactory::get_instance()->create_participant(77, PARTICIPANT_QOS_DEFAULT);
  if (!participant) return 2;
  TypeSupport type(new Number);
  type.register_type(participant);
  auto *topic = participant->create_topic("rostrace_test", "Number", TOPIC_QOS_DEFAULT);
  DataWriterQos writer_qos;
  writer_qos.history().kind = KEEP_ALL_HISTORY_QOS;
  DataReaderQos reader_qos;
  reader_qos.history().kind = KEEP_ALL_HISTORY_QOS;
  reader_qos.reliability().kind = RELIABLE_RELIABILITY_QOS;
  auto *writer = participant->create_publisher(PUBLISHER_QOS_DEFAULT)->create_datawriter(topic, writer_qos);
  auto *reader = participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT)->create_datareader(topic, reader_qos);
  if (!writer || !reader) return 3;
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  for (int i = 0; i < 5; i++) {
    ros_trace_rmw_publish(&i);
    if (!writer->write(&i)) return 4;
  }
  int taken = 0, value = 0;
  SampleInfo info;
  for (int tries = 0; tries < 3000 && taken < 5; tries++) {
    if (reader->take_next_sample(&value, &info) == ReturnCode_t::RETCODE_OK && info.valid_data) {
      std::printf("%lld\n", (long long)info.source_timestamp.to_ns());
      taken++;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  std::fflush(stdout);
  participant->delete_contained_entities();
  DomainParticipantFactory::get_instance()->delete_participant(participant);
  return taken == 5 ? 0 : 6;
}
