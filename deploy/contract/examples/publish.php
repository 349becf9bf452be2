<?php

// Publishes one push message to PushFleet and waits until RabbitMQ has it safely.
//
// Needs php-amqplib: composer require php-amqplib/php-amqplib
// Run: AMQP_URL=amqp://user:password@rabbitmq.example.com/%2F php publish.php

declare(strict_types=1);

require __DIR__ . '/vendor/autoload.php';

use PhpAmqpLib\Connection\AMQPConnectionConfig;
use PhpAmqpLib\Connection\AMQPConnectionFactory;
use PhpAmqpLib\Message\AMQPMessage;

const APP = 'com.example.shop';
const LANE = 'now'; // or 'bulk'

$body = [
    'app' => APP,
    'tokens' => ['00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0'],
    'push_type' => 'alert',
    'priority' => 10,
    'collapse_id' => 'order-17',
    'expires_at' => time() + 3600,
    'payload' => ['aps' => ['alert' => ['title' => 'On its way', 'body' => 'Order 17 has left our house.']]],
];

// A random (version 4) UUID.
$bytes = random_bytes(16);
$bytes[6] = chr(ord($bytes[6]) & 0x0f | 0x40);
$bytes[8] = chr(ord($bytes[8]) & 0x3f | 0x80);
$messageId = vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($bytes), 4));

try {
    $url = parse_url(getenv('AMQP_URL') ?: 'amqp://guest:guest@localhost:5672/%2F');
    $secure = $url['scheme'] === 'amqps';
    $config = new AMQPConnectionConfig();
    $config->setHost($url['host']);
    $config->setPort($url['port'] ?? ($secure ? 5671 : 5672));
    $config->setUser(rawurldecode($url['user'] ?? 'guest'));
    $config->setPassword(rawurldecode($url['pass'] ?? 'guest'));
    $config->setVhost(rawurldecode(substr($url['path'] ?? '/%2F', 1)) ?: '/');
    $config->setIsSecure($secure);
    $connection = AMQPConnectionFactory::create($config);

    $channel = $connection->channel();
    $channel->confirm_select();
    $channel->set_nack_handler(function (): void {
        throw new RuntimeException('RabbitMQ refused the message');
    });
    $channel->set_return_listener(function (int $code, string $text): void {
        throw new RuntimeException("no queue took the message: $code $text");
    });

    $channel->basic_publish(
        new AMQPMessage(json_encode($body, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE), [
            'message_id' => $messageId,
            'timestamp' => time(),
            'content_type' => 'application/json',
            'delivery_mode' => AMQPMessage::DELIVERY_MODE_PERSISTENT,
        ]),
        exchange: 'pushfleet',
        routing_key: APP . '.' . LANE,
        mandatory: true, // unroutable is an error: the app has no queue
    );
    // Throws after ten seconds without a confirm.
    $channel->wait_for_pending_acks_returns(10);
    $connection->close();
} catch (Throwable $error) {
    // Publish again with the same message_id: it stays one push.
    fwrite(STDERR, "not published: {$error->getMessage()}\n");
    exit(1);
}

echo $messageId, "\n";
